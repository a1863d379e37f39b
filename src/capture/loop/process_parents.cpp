#include "capture/loop/process_parents.h"

#include <cstdlib>
#include <fstream>
#include <string>

namespace batchlight::capture {
namespace {

constexpr int kMostGenerations = 1000;  // of processes that change meanwhile

// proc(5): "PID (name) state parent ..."; the name may hold anything. 0: nobody, or not known.
pid_t ParentOf(pid_t pid) {
  // It may end while it is read: a getline says so, where an iterator throws.
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text, '\0');
  const size_t name_end = text.rfind(')');
  constexpr size_t kToParent = 4;  // ") S "
  if (name_end == std::string::npos || text.size() < name_end + kToParent) return 0;
  return std::atoi(text.c_str() + name_end + kToParent);
}

}  // namespace

bool DescendsFrom(pid_t pid, pid_t ancestor) {
  for (int i = 0; i < kMostGenerations && pid > 0; ++i) {
    pid = ParentOf(pid);
    if (pid == ancestor) return true;
  }
  return false;
}

}  // namespace batchlight::capture
