// The text of the lines that a recording names, of Python and of kernels, from the files on this
// machine.
#pragma once

#include <map>
#include <string>

#include "store/stall_samples.h"
#include "store/store.h"

namespace batchlight {

// Fills python_frames.text. A recording says which files, so only regular files named *.py, also
// behind links, are opened, 64 MiB of them, and only those that nobody has changed since the
// session; lines of packages are left out.
void ReadSourceLines(Store& store);

// The text of these files as a whole, by path, under the same conditions.
std::map<std::string, std::string> ReadSourceFiles(const Store& store);

// Fills StallSample::source of samples of the store's recording, under the same conditions: of
// Python, where Triton's kernels stand, and of CUDA's languages; of packages too.
void ReadKernelSources(const Store& store, StallSamples& samples);

}  // namespace batchlight
