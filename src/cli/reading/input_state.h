// Whether the files of a run are still those that were read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace batchlight::cli {

// A number that changes when the files that are read for `words` are others in size or time; 0: one
// of them is not there, or none tells. What goes on, or was not sealed, does not.
uint64_t StateOfInputs(const std::vector<std::string>& words);

}  // namespace batchlight::cli
