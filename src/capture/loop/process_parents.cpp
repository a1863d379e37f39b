#include "capture/loop/process_parents.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

namespace batchlight::capture {
namespace {

constexpr int kMostGenerations = 1000;  // of processes that change meanwhile

// proc(5): "PID (name) state parent ..."; the name may hold anything. parent 0: nobody, or not
// known.
struct ProcessState {
  char state = 'X';
  pid_t parent = 0;
};

ProcessState StateOf(pid_t pid) {
  // It may end while it is read: a getline says so, where an iterator throws.
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text, '\0');
  const size_t name_end = text.rfind(')');
  constexpr size_t kToState = 2;  // ") S "
  constexpr size_t kToParent = 4;
  if (name_end == std::string::npos || text.size() < name_end + kToParent) return {};
  return {text[name_end + kToState], std::atoi(text.c_str() + name_end + kToParent)};
}

// `take` gets each process, until it returns true.
template <typename Take>
bool AnyProcess(const Take& take) {
  std::error_code error;
  for (std::filesystem::directory_iterator entry("/proc", error), end; !error && entry != end;
       entry.increment(error)) {
    const pid_t pid = std::atoi(entry->path().filename().c_str());
    if (pid > 0 && take(pid)) return true;
  }
  return false;
}

bool IsBeside(pid_t pid) {
  if (pid == getpid() || getpgid(pid) != getpgrp()) return false;
  const ProcessState state = StateOf(pid);
  const bool has_ended = state.state == 'Z' || state.state == 'X';
  return !has_ended && state.parent != getpid() && !DescendsFrom(getpid(), pid);
}

}  // namespace

bool DescendsFrom(pid_t pid, pid_t ancestor) {
  for (int i = 0; i < kMostGenerations && pid > 0; ++i) {
    pid = StateOf(pid).parent;
    if (pid == ancestor) return true;
  }
  return false;
}

std::vector<pid_t> DescendantsOf(pid_t ancestor, pid_t group) {
  std::vector<pid_t> found;
  AnyProcess([&](pid_t pid) {
    if (getpgid(pid) == group && DescendsFrom(pid, ancestor)) found.push_back(pid);
    return false;
  });
  return found;
}

bool SharesItsGroup() { return AnyProcess(IsBeside); }

}  // namespace batchlight::capture
