#include "analysis/os/lock_waits.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace batchlight {
namespace {

using LineOf = std::function<PythonFrameId(PythonStackId)>;

// Python was looked at seldom in shorter waits, and most waits of a busy program are.
constexpr int64_t kLookedNs = 5'000'000;
constexpr size_t kMostLooks = 10'000;  // of damaged files

class Sums {
 public:
  Sums(const Store& store, const LineOf& line_of) : store_(store), line_of_(line_of) {
    for (size_t row = 0; row < store.threads.size(); ++row) {
      threads_[{store.threads.process[row], store.threads.tid[row]}] = ThreadId::At(row);
    }
  }

  void Add(size_t row, PythonStackId stack) {
    const OsCallsTable& calls = store_.os_calls;
    const ThreadId thread = calls.thread[row];
    const ThreadId releaser = Releaser(thread, calls.released_by[row]);
    const PythonFrameId line = stack.IsNone() ? PythonFrameId::None() : line_of_(stack);
    Sum& sum = sums_[{thread, calls.name[row], line, releaser}];
    const int64_t ns = calls.end_ns[row] - calls.start_ns[row];
    ++sum.waits;
    sum.total_ns += ns;
    sum.longest_ns = std::max(sum.longest_ns, ns);
    if (!releaser.IsNone() && ns >= kLookedNs) {
      AddLooks(releaser, calls.start_ns[row], calls.end_ns[row], sum.their_ns);
    }
  }

  std::vector<LockWaits> Take() const {
    std::vector<LockWaits> all;
    for (const auto& [key, sum] : sums_) {
      LockWaits waits{.waits = sum.waits, .total_ns = sum.total_ns, .longest_ns = sum.longest_ns};
      std::tie(waits.thread, waits.call, waits.line, waits.released_by) = key;
      int64_t most_ns = 0;
      for (const auto& [line, ns] : sum.their_ns) {
        if (ns <= most_ns) continue;
        most_ns = ns;
        waits.their_line = line;
      }
      all.push_back(waits);
    }
    std::stable_sort(all.begin(), all.end(), [](const LockWaits& a, const LockWaits& b) {
      return a.total_ns > b.total_ns;
    });
    return all;
  }

 private:
  using NsOfLines = std::map<PythonFrameId, int64_t>;
  struct Sum {
    uint64_t waits = 0;
    int64_t total_ns = 0, longest_ns = 0;
    NsOfLines their_ns;
  };

  ThreadId Releaser(ThreadId waiter, uint32_t tid) const {
    if (tid == 0 || waiter.IsNone()) return {};
    const auto found = threads_.find({store_.threads.process[waiter.row()], tid});
    return found == threads_.end() ? ThreadId::None() : found->second;
  }

  void AddLooks(ThreadId thread, int64_t start_ns, int64_t end_ns, NsOfLines& lines) const {
    const PythonSamplesTable& samples = store_.python_samples;
    const auto [first, last] =
        std::equal_range(samples.thread.begin(), samples.thread.end(), thread);
    const auto begin = samples.end_ns.begin();
    const auto behind = static_cast<size_t>(last - samples.thread.begin());
    auto row = static_cast<size_t>(
        std::partition_point(begin + (first - samples.thread.begin()),
                             begin + (last - samples.thread.begin()),
                             [&](int64_t looked_ns) { return looked_ns <= start_ns; }) -
        begin);
    for (size_t looks = 0; row < behind && looks < kMostLooks; ++row, ++looks) {
      if (samples.start_ns[row] >= end_ns) break;
      const PythonStackId stack = samples.python_stack[row];
      if (stack.IsNone()) continue;
      lines[line_of_(stack)] +=
          std::min(end_ns, samples.end_ns[row]) - std::max(start_ns, samples.start_ns[row]);
    }
  }

  const Store& store_;
  const LineOf& line_of_;
  std::map<std::pair<ProcessId, uint64_t>, ThreadId> threads_;
  std::map<std::tuple<ThreadId, StringId, PythonFrameId, ThreadId>, Sum> sums_;
};

}  // namespace

std::vector<LockWaits> SumLockWaits(const Store& store, const std::vector<PythonStackId>& stacks,
                                    const LineOf& line_of) {
  Sums sums(store, line_of);
  const OsCallsTable& calls = store.os_calls;
  for (size_t row = 0; row < calls.size(); ++row) {
    if (calls.object[row] != 0 && calls.end_ns[row] != kOpenEnd) sums.Add(row, stacks[row]);
  }
  return sums.Take();
}

}  // namespace batchlight
