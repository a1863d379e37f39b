// Numbers as values of flags, within limits.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "cli/flags/flags.h"

namespace batchlight::cli {

// Errors (kUsage): `text` is no whole number from `least` to `most`; the message begins with
// `name`.
Result<uint64_t> ReadNumber(std::string_view name, std::string_view text, uint64_t least,
                            uint64_t most);
// The flag's value, likewise.
Result<uint64_t> NumberOf(const ParsedFlags& flags, Flag flag, uint64_t least, uint64_t most);
// "--osrt-threshold=500"
std::string Spelled(const ParsedFlags& flags, Flag flag);

}  // namespace batchlight::cli
