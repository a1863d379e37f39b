// What can be recorded on this machine, and what is missing for the rest: `batchlight doctor`.
#pragma once

#include <string>
#include <vector>

namespace batchlight::capture {

enum class Finding {
  kGood,     // works
  kMissing,  // does not; `remedy` says what to do
  kNote,     // works, with a limit worth knowing
};

struct Check {
  std::string area;  // "NVTX", "Python", ...
  Finding finding = Finding::kGood;
  std::string what;    // one line
  std::string remedy;  // empty if there is nothing to do
};

// Looks at the installation, Python and PyTorch, the compiler, GPUs and CUPTI, the kernel. Runs the
// Python interpreters that it finds in PATH; imports nothing in them. Takes a fraction of a second.
std::vector<Check> CheckMachine();

// Parts of the above.
std::vector<Check> CheckPython();
std::vector<Check> CheckGpu();

}  // namespace batchlight::capture
