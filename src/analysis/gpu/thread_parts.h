// Stretches of threads that explain idle time of a GPU: "from here to there this thread loaded
// data". Of stretches inside of each other the innermost counts.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/gpu/gpu_breakdown.h"
#include "store/ids.h"
#include "store/interval_index.h"

namespace batchlight {

class ThreadParts {
 public:
  // Ordered by (thread, start, longest first).
  void Add(ThreadId thread, int64_t start_ns, int64_t end_ns, GpuPart part);
  void Finish();  // after the last one, before the first question

  // What the stretch around `time_ns` stands for, if there is one. Lowers *until_ns to the next
  // moment at which that may change.
  std::optional<GpuPart> At(ThreadId thread, int64_t time_ns, int64_t* until_ns) const;

 private:
  std::vector<ThreadId> thread_;
  std::vector<int64_t> start_ns_;
  std::vector<int64_t> end_ns_;
  std::vector<GpuPart> part_;
  std::optional<IntervalIndex> index_;
};

}  // namespace batchlight
