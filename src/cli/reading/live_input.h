// Whether a run goes on while it is read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace batchlight::cli {

// The recording's live folder is there, and the program that writes it.
bool IsGrowing(const std::string& path);
// A number that changes when there is more to read.
uint64_t VersionOfInput(const std::string& path);
// A number that changes when the files that are read for `words` are others or other in size or
// time; 0: one of them is not there, or none tells (a run that goes on, or was not sealed).
uint64_t StateOfInputs(const std::vector<std::string>& words);

}  // namespace batchlight::cli
