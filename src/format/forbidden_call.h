// What is said of a process that was killed at a system call: by the tool, which sees it end, and
// of a child that had no file yet by who reads what its parent saw. A filter may know the program's
// own calls alone, and not those of the library in it.
#pragma once

#include <cstdint>
#include <string>

namespace batchlight::format {

inline constexpr int kForbiddenCallSignal = 31;  // SIGSYS
inline constexpr char kProcessesFeature[] = "processes";

inline std::string ForbiddenCallText(int64_t pid) {
  return "process " + std::to_string(pid) +
         " was killed at a system call that is forbidden to it (SIGSYS, likely a seccomp filter), "
         "perhaps one of the recorder's: `env -u LD_PRELOAD` before the program leaves the "
         "recorder "
         "out of it";
}

}  // namespace batchlight::format
