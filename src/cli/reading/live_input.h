// Whether a run goes on while it is read.
#pragma once

#include <cstdint>
#include <string>

namespace batchlight::cli {

// The recording's live folder is there, and the program that writes it.
bool IsGrowing(const std::string& path);
// A number that changes when there is more to read.
uint64_t VersionOfInput(const std::string& path);

}  // namespace batchlight::cli
