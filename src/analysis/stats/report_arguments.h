// What may follow the name of a report or rule ("um_sum:rows=20"), as its usage text says it:
// "[:nvtx-name][:base|:mangled][:rows=<limit>]". Checked before a large input is read.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"

namespace batchlight::stats {

// `whose`: "report um_sum". Errors (kUsage): an argument that is not in `usage` (with the nearest
// one that is), two alternatives at once, an unexpected or missing value, and a value that is no
// number or out of bounds.
Status CheckArguments(std::string_view whose, std::string_view usage,
                      std::span<const std::string> args);

// What follows "key=": of the last such argument, as nsys reads them.
std::optional<std::string_view> ArgumentValue(std::span<const std::string> args,
                                              std::string_view key);
// The same as a number; the text was checked before. `otherwise` where the argument is not given.
int64_t ArgumentInteger(std::span<const std::string> args, std::string_view key, int64_t otherwise);
double ArgumentReal(std::span<const std::string> args, std::string_view key, double otherwise);

}  // namespace batchlight::stats
