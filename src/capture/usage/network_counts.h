// What network interfaces have carried, of each network namespace that has a recorded process.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "capture/usage/kernel_file.h"

namespace batchlight::capture {

struct InterfaceBytes {
  uint64_t received = 0;
  uint64_t sent = 0;
  friend bool operator==(const InterfaceBytes&, const InterfaceBytes&) = default;
};

class NetworkCounts {
 public:
  // Of the namespace of that process; once for each namespace.
  void AddProcess(pid_t pid);

  using Visit = std::function<void(pid_t, std::string_view interface, const InterfaceBytes&)>;
  // Calls visit for each interface that has carried something: since the last call, or, with `all`,
  // ever.
  void Read(bool all, const Visit& visit);

 private:
  struct Namespace {
    pid_t pid = 0;
    KernelFile file;
    std::map<std::string, InterfaceBytes, std::less<>> last;
  };

  std::map<std::string, Namespace> namespaces_;  // by what the kernel calls them
};

// Calls visit for each line of `text`, /proc/PID/net/dev.
void VisitInterfaces(std::string_view text,
                     const std::function<void(std::string_view, const InterfaceBytes&)>& visit);

}  // namespace batchlight::capture
