// A live folder may lie in memory (tmpfs, ramfs). What is recorded there is taken from the program:
// where a container's limit is reached, the kernel ends one or the other. How much of the disk is
// free says nothing of that.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "capture/recording/disk_limits.h"
#include "capture/recording/live_folder.h"
#include "format/control.h"

namespace batchlight::capture {

class MemoryRoom {
 public:
  using FreeBytes = std::function<uint64_t()>;

  // After SetDiskLimits(). `free_bytes` says what may still be taken.
  MemoryRoom(const DiskLimits& limits, const LiveFolder& folder, format::ControlPage& page,
             FreeBytes free_bytes);

  bool in_memory() const { return in_memory_; }
  // Lets the files take half of what is free beyond what has to stay so. Call ten times a second.
  void Follow();
  // Why recording stopped, for the user; "" if that has to do with something else.
  std::string ExplainStop(const std::string& folder) const;

 private:
  format::ControlPage* page_;
  FreeBytes free_bytes_;
  bool in_memory_;
  uint64_t keep_bytes_ = 0;
  uint64_t max_bytes_;     // --max-size; 0 = no limit
  bool is_limit_ = false;  // memory ends before --max-size
};

}  // namespace batchlight::capture
