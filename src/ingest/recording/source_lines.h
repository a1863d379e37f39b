// The text of the lines that a recording names, of Python and of kernels, from the files on this
// machine.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "store/stall_samples.h"
#include "store/store.h"

namespace batchlight {

// From here on this process reads what a recording names only while it holds what `take` gives: the
// recorded program chose the names, and with --run-as it may read less than the tool.
using SourceRights = std::shared_ptr<const void>;
void ReadSourcesWith(std::function<SourceRights()> take);

// Fills python_frames.text. A recording says which files, so only regular files named *.py, also
// behind links, are opened, 64 MiB of them, and only those that nobody has changed since the
// session; lines of packages are left out. `owners` are those of the recording, who chose the
// names: where they are other users than this one, they must be able to read the file, too
// (IsReadableTo), or rights are taken as above.
void ReadSourceLines(Store& store, const std::set<uint32_t>& owners);

// The text of these files as a whole, by path, under the same conditions; the store may be made of
// all recordings that this process has read, and all of their owners count.
std::map<std::string, std::string> ReadSourceFiles(const Store& store);

// Fills StallSample::source of samples of the store's recording, under the same conditions: of
// Python, where Triton's kernels stand, and of CUDA's languages; of packages too.
void ReadKernelSources(const Store& store, StallSamples& samples);

}  // namespace batchlight
