// The events of one thread over all tables, by start.
#pragma once

#include <cstdint>
#include <vector>

#include "timeline/index/timeline.h"

namespace batchlight::timeline {

class ThreadTables {
 public:
  explicit ThreadTables(const Timeline& timeline);

  // By start, then longest, then the order of the tables. Start/end ranges are apart, since they
  // do not nest. `thread` may be None: events on no thread that is known.
  std::vector<uint32_t> CallsOf(ThreadId thread) const;
  std::vector<uint32_t> StartEndRangesOf(ThreadId thread) const;
  bool HasCalls(ThreadId thread) const;
  bool HasStartEndRanges(ThreadId thread) const;

 private:
  struct Source {
    const std::vector<ThreadId>* thread;  // ordered
    uint32_t first_ref;
  };
  struct Cursor {
    uint32_t at;  // ref
    uint32_t end;
  };
  static Cursor RowsOf(const Source& source, ThreadId thread);
  bool IsStartEnd(uint32_t ref) const;

  const Timeline& timeline_;
  std::vector<Source> sources_;
  uint32_t ranges_ref_ = kNoRef;  // first of nvtx_ranges
};

}  // namespace batchlight::timeline
