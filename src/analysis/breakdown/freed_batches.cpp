#include "analysis/breakdown/freed_batches.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "store/interval_index.h"

namespace batchlight {
namespace {

// What a smaller copy leaves behind is freed in no time.
constexpr uint64_t kLargeCopyBytes = 4'000'000;
// From the end of the copy's call to the end of the operator around it.
constexpr int64_t kBehindCopyNs = 500'000;
// Shared pages were seen to go at 6.4 GB/s (231 MB in 36 ms); a slow or busy machine takes a few
// times as long, and what takes longer still is something else.
constexpr double kSlowestFreeing = 2;  // bytes/ns

struct BatchCopy {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  double bytes = 0;
  size_t group = 0;                        // copies without a phase or a module's call between them
  std::vector<PythonStackId> stacks = {};  // where samples found it
  int64_t freeing_ns = 0;                  // samples behind it
};

bool HasWorkers(const Store& store, const ThreadSpans::Rows& rows) {
  for (uint32_t row = rows.begin; row < rows.end; ++row) {
    if (store.phase_calls.phase[row] != Phase::kDataLoaderNext) continue;
    const std::string_view iterator = store.Text(store.phase_calls.name[row]);
    if (iterator.find("_MultiProcessingDataLoaderIter") != iterator.npos) return true;
  }
  return false;
}

class FreedBatches {
 public:
  FreedBatches(const Store& store, ThreadId thread, const CodeSamples& samples)
      : store_(store), thread_(thread), samples_(samples) {}

  int64_t TotalNs(const std::vector<TimeSpan>& gaps) {
    const ThreadSpans::Rows phases = ThreadSpans(store_.phase_calls.thread).Of(thread_);
    if (!HasWorkers(store_, phases)) return 0;
    FindCopies();
    if (copies_.empty()) return 0;
    FindStacks();
    Group(phases);
    AddLooks(gaps);
    double total_ns = 0;
    for (size_t begin = 0, end = 0; begin < copies_.size(); begin = end) {
      double freeing_ns = 0, bytes = 0;
      for (; end < copies_.size() && copies_[end].group == copies_[begin].group; ++end) {
        freeing_ns += double(copies_[end].freeing_ns);
        bytes += copies_[end].bytes;
      }
      total_ns += std::min(freeing_ns, bytes / kSlowestFreeing);
    }
    return static_cast<int64_t>(total_ns);
  }

 private:
  // Calls of the thread that copy large tensors from pageable memory to the GPU, in order. They
  // return before the copy is done where the last of it is staged.
  void FindCopies() {
    const MemcpysTable& copies = store_.memcpys;
    for (size_t row = 0; row < copies.size(); ++row) {
      if (copies.source_kind[row] != MemoryKind::kPageable) continue;
      if (copies.destination_kind[row] != MemoryKind::kDevice) continue;
      if (copies.bytes[row] < kLargeCopyBytes || copies.api_call[row].IsNone()) continue;
      const size_t call = copies.api_call[row].row();
      const int64_t end_ns = store_.api_calls.end_ns[call];
      if (store_.api_calls.thread[call] != thread_ || end_ns == kOpenEnd) continue;
      copies_.push_back({.start_ns = store_.api_calls.start_ns[call],
                         .end_ns = end_ns,
                         .bytes = double(copies.bytes[row])});
    }
    std::sort(copies_.begin(), copies_.end(),
              [](const BatchCopy& a, const BatchCopy& b) { return a.start_ns < b.start_ns; });
  }

  void FindStacks() {
    std::vector<TimeSpan> spans;
    for (const BatchCopy& copy : copies_) AddSpan(spans, copy.start_ns, copy.end_ns);
    auto copy = copies_.begin();
    for (const CodeLook& look : samples_.LooksIn(thread_, spans)) {
      while (std::next(copy) != copies_.end() && std::next(copy)->start_ns <= look.at_ns) ++copy;
      copy->stacks.push_back(look.stack);
      for (PythonStackId line = look.stack; !line.IsNone();
           line = store_.python_stacks.parent[line.row()]) {
        if (!lines_.insert(uint32_t(line.row())).second) break;
      }
    }
  }

  void Group(const ThreadSpans::Rows& phases) {
    std::vector<int64_t> starts;
    const auto add = [&](const auto& calls, const ThreadSpans::Rows& rows) {
      for (uint32_t row = rows.begin; row < rows.end; ++row) starts.push_back(calls.start_ns[row]);
    };
    add(store_.phase_calls, phases);
    add(store_.module_calls, ThreadSpans(store_.module_calls.thread).Of(thread_));
    std::sort(starts.begin(), starts.end());
    for (size_t i = 1; i < copies_.size(); ++i) {
      const auto next = std::lower_bound(starts.begin(), starts.end(), copies_[i - 1].end_ns);
      const bool goes_on = next != starts.end() && *next < copies_[i].start_ns;
      copies_[i].group = copies_[i - 1].group + (goes_on ? 1 : 0);
    }
  }

  void AddLooks(const std::vector<TimeSpan>& gaps) {
    std::vector<TimeSpan> behind;
    auto copy = copies_.begin();
    for (const TimeSpan& gap : gaps) {
      while (copy != copies_.end() && copy->end_ns < gap.start_ns - kBehindCopyNs) ++copy;
      if (copy != copies_.end() && copy->end_ns <= gap.start_ns) behind.push_back(gap);
    }
    copy = copies_.begin();
    for (const CodeLook& look : samples_.LooksIn(thread_, behind)) {
      while (std::next(copy) != copies_.end() && std::next(copy)->end_ns <= look.at_ns) ++copy;
      if (!lines_.contains(uint32_t(look.stack.row()))) continue;
      if (!IsCopiedAgain(look.stack, copy)) copy->freeing_ns += look.ns;
    }
  }

  // Whether the line is still at it when the next copy follows; so it is where that is not known.
  bool IsCopiedAgain(PythonStackId line, std::vector<BatchCopy>::const_iterator copy) const {
    const auto next = std::next(copy);
    if (next == copies_.end() || next->group != copy->group) return false;
    return next->stacks.empty() || Makes(line, *next);
  }

  bool Makes(PythonStackId line, const BatchCopy& copy) const {
    for (PythonStackId stack : copy.stacks) {
      for (; !stack.IsNone(); stack = store_.python_stacks.parent[stack.row()]) {
        if (stack == line) return true;
      }
    }
    return false;
  }

  const Store& store_;
  const ThreadId thread_;
  const CodeSamples& samples_;
  std::vector<BatchCopy> copies_;
  std::unordered_set<uint32_t> lines_;  // stacks of the copies and of their callers
};

}  // namespace

int64_t FreeingNs(const Store& store, const ProcessSteps& main, const CodeSamples& samples,
                  const std::vector<TimeSpan>& gaps) {
  return samples.empty() ? 0 : FreedBatches(store, main.thread, samples).TotalNs(gaps);
}

}  // namespace batchlight
