#include "ingest/common/late_times.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace batchlight {
namespace {

// Looks one after the other of one thread: rows [begin, end).
class LooksOfThread {
 public:
  LooksOfThread(PythonSamplesTable& samples, size_t begin, size_t end)
      : samples_(samples), begin_(begin), end_(end) {}

  void Move() {
    int64_t late_cpu_ns = 0, late_ready_ns = 0;
    for (size_t row = end_; row-- > begin_;) {
      const int64_t ns = samples_.end_ns[row] - samples_.start_ns[row];
      Take(samples_.cpu_ns[row], ns, row, late_cpu_ns);
      Take(samples_.ready_ns[row], std::max<int64_t>(0, ns - samples_.cpu_ns[row]), row,
           late_ready_ns);
    }
    bool waited = false;  // when it was last found off the GIL
    for (size_t row = begin_; row < end_; ++row) {
      if (samples_.gil[row] == GilState::kWaits) {
        waited = true;
      } else if (HasGil(row)) {
        if (waited) samples_.gil_ns[row] = LeftOf(row);
      } else {
        waited = false;
      }
    }
  }

 private:
  // What is more than `most_ns` goes to the row before; the first keeps it.
  void Take(int64_t& own_ns, int64_t most_ns, size_t row, int64_t& late_ns) const {
    own_ns += std::exchange(late_ns, 0);
    if (own_ns <= most_ns || row == begin_) return;
    late_ns = own_ns - most_ns;
    own_ns = most_ns;
  }

  // Where nobody waits for the GIL it is not known who has it: one that ran does.
  bool HasGil(size_t row) const {
    return samples_.gil[row] == GilState::kHolds ||
           (samples_.gil[row] == GilState::kUnknown && samples_.cpu_ns[row] > 0);
  }

  int64_t LeftOf(size_t row) const {
    const int64_t ns = samples_.end_ns[row] - samples_.start_ns[row];
    return std::max<int64_t>(0, ns - samples_.cpu_ns[row] - samples_.ready_ns[row]);
  }

  PythonSamplesTable& samples_;
  const size_t begin_, end_;
};

}  // namespace

void MoveLateTimes(Store& store) {
  PythonSamplesTable& samples = store.python_samples;
  for (size_t begin = 0; begin < samples.size();) {
    size_t end = begin + 1;
    while (end < samples.size() && samples.thread[end] == samples.thread[begin] &&
           samples.start_ns[end] <= samples.end_ns[end - 1]) {
      ++end;
    }
    LooksOfThread(samples, begin, end).Move();
    begin = end;
  }
}

}  // namespace batchlight
