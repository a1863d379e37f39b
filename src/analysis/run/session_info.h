// What ran: the head of every view.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "store/store.h"

namespace batchlight {

struct ProcessInfo {
  ProcessId process;
  uint32_t pid = 0;
  int32_t parent = -1;  // row in SessionInfo::processes
  int32_t rank = -1;
  std::string name;
  std::string command_line;
  int64_t start_ns = 0;
  int64_t end_ns = 0;  // kOpenEnd: unknown
  int exit_code = -1;
  int exit_signal = -1;
  bool vanished = false;  // it ended, and neither it nor its parent said how
  bool replaced = false;  // by exec: the next process with this pid is the same one
  uint64_t threads = 0;
  uint64_t events = 0;  // rows of the event tables that belong to it

  // "exit 0", "signal 9 (SIGKILL)", "became another program", "killed, or left by a system call of
  // its own", "end unknown"
  std::string ExitText() const;
};

struct SessionInfo {
  std::string source;         // path of the input
  std::string source_format;  // "batchlight", ...
  std::string command;        // what the user started
  std::string working_directory;
  int64_t start_utc_ns = 0;
  int64_t duration_ns = 0;
  uint64_t events = 0;
  std::vector<ProcessInfo> processes;                         // by start
  std::vector<std::pair<std::string, std::string>> software;  // "Python" "3.11.2", "PyTorch" ...
  std::vector<std::pair<std::string, std::string>> machine;   // "Host", "CPU", "Memory", "GPU"
};

SessionInfo DescribeSession(const Store& store);

}  // namespace batchlight
