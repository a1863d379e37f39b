// What ran on the streams of each GPU, and what belongs to a process on no thread or stream.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "timeline/index/timeline.h"

namespace batchlight::timeline {

// The events of one track, table by table.
struct StreamList {
  ProcessId process;
  int64_t device = -1;  // -1: of the process
  TrackKind kind = TrackKind::kStream;
  uint64_t context = 0;
  uint64_t stream = 0;
  std::string title;
  std::vector<std::vector<uint32_t>> tables;  // refs by start
};

class StreamTables {
 public:
  explicit StreamTables(const Timeline& timeline);

  // By process, device, kind, context, stream.
  const std::vector<StreamList>& lists() const { return lists_; }
  // By start, then longest.
  std::vector<uint32_t> EventsOf(const StreamList& list) const;

 private:
  const Timeline& timeline_;
  std::vector<StreamList> lists_;
};

}  // namespace batchlight::timeline
