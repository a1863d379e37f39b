// Processes whose program was started without our library: with an environment of its own (env -i,
// Python's subprocess with env={}). Nothing of them is recorded, and nobody in them can say so.
#pragma once

#include <sys/types.h>

#include <string>
#include <unordered_map>
#include <utility>

namespace batchlight::capture {

class Unreached {
 public:
  // `library`: as LD_PRELOAD names it.
  explicit Unreached(std::string library) : library_(std::move(library)) {}

  // Looks at a process that is alive and no zombie. One that has no library twice is counted: while
  // a program is being loaded its environment is not there yet. `again`: also at one that had it.
  void LookAt(pid_t pid, const std::string& name, bool again);
  void Forget(pid_t pid) { looks_.erase(pid); }
  // A sentence; empty if there were none.
  std::string Text() const;

 private:
  bool HasNoLibrary(pid_t pid) const;

  std::string library_;
  std::unordered_map<pid_t, int> looks_;  // in a row without it
  size_t count_ = 0;
  std::string names_;  // of the first ones
};

}  // namespace batchlight::capture
