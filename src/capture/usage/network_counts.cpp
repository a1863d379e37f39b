#include "capture/usage/network_counts.h"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/split.h"

namespace batchlight::capture {
namespace {

// "" if it cannot be read: another user's process.
std::string NamespaceOf(pid_t pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/ns/net";
  std::array<char, 64> name;
  const ssize_t bytes = readlink(path.c_str(), name.data(), name.size());
  return bytes <= 0 ? "" : std::string(name.data(), static_cast<size_t>(bytes));
}

}  // namespace

void NetworkCounts::AddProcess(pid_t pid) {
  const std::string name = NamespaceOf(pid);
  if (name.empty()) return;
  Namespace& space = namespaces_[name];
  if (space.file.is_open()) return;
  space.pid = pid;
  space.file = KernelFile("/proc/" + std::to_string(pid) + "/net/dev");
}

void NetworkCounts::Read(bool all, const Visit& visit) {
  for (auto& [name, space] : namespaces_) {
    const std::string_view text = space.file.Read();
    // The process is gone: the next one that comes shows the namespace again.
    if (text.empty()) space.file.Close();
    VisitInterfaces(
        text, [&, &space = space](std::string_view interface, const InterfaceBytes& bytes) {
          auto last = space.last.find(interface);
          if (last == space.last.end()) {
            last = space.last.emplace(interface, InterfaceBytes{}).first;
          }
          const bool has_carried = all ? bytes != InterfaceBytes{} : bytes != last->second;
          last->second = bytes;
          if (has_carried) visit(space.pid, interface, bytes);
        });
  }
}

// "  eth0: RECEIVED PACKETS ERRS DROP FIFO FRAME COMPRESSED MULTICAST SENT ...", below two lines of
// titles.
void VisitInterfaces(std::string_view text,
                     const std::function<void(std::string_view, const InterfaceBytes&)>& visit) {
  constexpr int kBetween = 7;
  while (!text.empty()) {
    std::string_view line = TakeLine(text);
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    std::string_view name = line.substr(0, colon);
    name.remove_prefix(std::min(name.find_first_not_of(' '), name.size()));
    line.remove_prefix(colon + 1);
    InterfaceBytes bytes;
    bytes.received = TakeNumber(line);
    for (int word = 0; word < kBetween; ++word) TakeWord(line);
    bytes.sent = TakeNumber(line);
    visit(name, bytes);
  }
}

}  // namespace batchlight::capture
