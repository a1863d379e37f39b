#include "capture/usage/unreached.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "base/printable_text.h"

namespace batchlight::capture {
namespace {

constexpr int kLooks = 2;
constexpr size_t kNamed = 3;
constexpr size_t kMostBytes = size_t{4} << 20;

// Where a process writes its title into its environment (setproctitle) it says nothing any more.
bool BeginsWithVariable(std::string_view environment) {
  const std::string_view first = environment.substr(0, environment.find('\0'));
  return first.find('=') != std::string_view::npos && first[0] > ' ' && first[0] != '=';
}

}  // namespace

bool Unreached::HasNoLibrary(pid_t pid) const {
  const int fd = open(("/proc/" + std::to_string(pid) + "/environ").c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;  // another user's, or gone
  std::string environment;
  char bytes[16 << 10];
  ssize_t count = 0;
  while (environment.size() < kMostBytes && (count = read(fd, bytes, sizeof bytes)) > 0) {
    environment.append(bytes, static_cast<size_t>(count));
  }
  close(fd);
  if (count < 0 || environment.size() >= kMostBytes) return false;
  if (environment.empty()) return true;
  if (!BeginsWithVariable(environment)) return false;
  for (std::string_view rest = environment; !rest.empty();) {
    const std::string_view variable = rest.substr(0, rest.find('\0'));
    rest.remove_prefix(std::min(rest.size(), variable.size() + 1));
    if (variable.starts_with("LD_PRELOAD=") && variable.find(library_) != std::string_view::npos) {
      return false;
    }
  }
  return true;
}

void Unreached::LookAt(pid_t pid, const std::string& name, bool again) {
  int& looks = looks_[pid];
  if (looks >= kLooks || (looks == 0 && !again)) return;
  looks = HasNoLibrary(pid) ? looks + 1 : 0;
  if (looks < kLooks) return;
  if (++count_ <= kNamed) {
    names_ += (count_ > 1 ? ", " : "") + PrintableText(name) + " (" + std::to_string(pid) + ")";
  }
}

std::string Unreached::Text() const {
  if (count_ == 0) return {};
  const std::string who =
      count_ == 1 ? "a process was" : std::to_string(count_) + " processes were";
  return who + " started with an environment without batchlight's LD_PRELOAD (env -i, " +
         "subprocess with env=): nothing that " + (count_ == 1 ? "it" : "they") +
         " did is recorded: " + names_ + (count_ > kNamed ? ", ..." : "");
}

}  // namespace batchlight::capture
