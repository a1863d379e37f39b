// LIVE_FOLDER/usage.blp: what processes, machine and network have used up, as records.
#pragma once

#include <sys/types.h>

#include <string_view>

#include "capture/recording/tool_chunks.h"

namespace batchlight::capture {

class UsageLog {
 public:
  static Result<UsageLog> Create(const LiveFolder& live_folder);

  void SetCapture(uint32_t capture_index) { chunks_.SetCapture(capture_index); }
  void Add(const format::ProcessUsageRecord& usage, int64_t at_ns);
  void Add(const format::MachineUsageRecord& usage, int64_t at_ns);
  // Of a process that records nothing itself.
  void AddName(pid_t pid, pid_t parent, std::string_view name, int64_t at_ns);
  // `usage.interface` is filled in here.
  void Add(format::NetworkUsageRecord usage, std::string_view interface, int64_t at_ns);

 private:
  explicit UsageLog(ToolChunks chunks) : chunks_(std::move(chunks)) {}

  ToolChunks chunks_;
};

}  // namespace batchlight::capture
