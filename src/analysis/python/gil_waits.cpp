#include "analysis/python/gil_waits.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace batchlight {
namespace {

// Looks of one thread overlap in damaged files alone: there neither sums nor work may grow with it.
constexpr int kMostLooks = 5000;  // 2000 a second, of a wait of a second at most

int64_t Inside(TimeSpan span, int64_t start_ns, int64_t end_ns) {
  return std::max<int64_t>(0, std::min(end_ns, span.end_ns) - std::max(start_ns, span.start_ns));
}

// Sums of what holders did, by function and by its lines.
class Holders {
 public:
  explicit Holders(const Store& store) : store_(store), samples_(store.python_samples) {
    for (uint32_t row = 0; row < samples_.size(); ++row) {
      const auto [place, is_new] = rows_.try_emplace(samples_.thread[row], row, row);
      place->second.second = row + 1;
    }
  }

  // The waiter's sample `row` in `span`, by what its holder did at the time.
  void Add(uint32_t row, TimeSpan span) {
    const ThreadId holder = samples_.gil_holder[row];
    const int64_t start_ns = std::max(span.start_ns, samples_.start_ns[row]);
    const int64_t end_ns = std::min(span.end_ns, samples_.end_ns[row]);
    int64_t known_ns = 0;
    const auto found = holder.IsNone() ? rows_.end() : rows_.find(holder);
    if (found != rows_.end()) {
      const auto [first, last] = found->second;
      const auto begin = samples_.end_ns.begin();
      auto at = std::partition_point(begin + first, begin + last,
                                     [&](int64_t end) { return end <= start_ns; });
      for (int looks = 0; at != begin + last && looks < kMostLooks; ++at, ++looks) {
        const auto other = static_cast<uint32_t>(at - begin);
        if (samples_.start_ns[other] >= end_ns) break;
        const int64_t ns =
            std::min(Inside({start_ns, end_ns}, samples_.start_ns[other], samples_.end_ns[other]),
                     end_ns - start_ns - known_ns);
        Count(holder, samples_.python_stack[other], ns);
        known_ns += ns;
      }
    }
    Count(holder, PythonStackId::None(), std::max<int64_t>(0, end_ns - start_ns - known_ns));
  }

  std::vector<GilHolder> Take() {
    std::vector<GilHolder> holders;
    for (const auto& [key, lines] : sums_) {
      GilHolder holder{
          .thread = std::get<0>(key), .file = std::get<1>(key), .function = std::get<2>(key)};
      int64_t most_ns = -1;
      for (const auto& [line, ns] : lines) {
        holder.ns += ns;
        if (ns <= most_ns) continue;
        most_ns = ns;
        holder.line = line;
      }
      holders.push_back(holder);
    }
    std::stable_sort(holders.begin(), holders.end(),
                     [](const GilHolder& a, const GilHolder& b) { return a.ns > b.ns; });
    sums_.clear();
    return holders;
  }

 private:
  void Count(ThreadId thread, PythonStackId stack, int64_t ns) {
    if (ns <= 0) return;
    StringId file, function;
    uint32_t line = 0;
    if (!stack.IsNone()) {
      const PythonFrameId frame = store_.python_stacks.frame[stack.row()];
      if (!frame.IsNone()) {
        file = store_.python_frames.file[frame.row()];
        function = store_.python_frames.function[frame.row()];
        line = store_.python_frames.line[frame.row()];
      }
    }
    sums_[{thread, file, function}][line] += ns;
  }

  const Store& store_;
  const PythonSamplesTable& samples_;
  std::map<ThreadId, std::pair<uint32_t, uint32_t>>
      rows_;  // of each thread: first, behind the last
  std::map<std::tuple<ThreadId, StringId, StringId>, std::map<uint32_t, int64_t>> sums_;
};

}  // namespace

std::vector<GilWaits> FindGilWaits(const Store& store, TimeSpan within) {
  const PythonSamplesTable& samples = store.python_samples;
  Holders holders(store);
  std::vector<GilWaits> all;
  for (uint32_t row = 0; row < samples.size();) {
    GilWaits waits{.thread = samples.thread[row]};
    for (; row < samples.size() && samples.thread[row] == waits.thread; ++row) {
      const int64_t ns = Inside(within, samples.start_ns[row], samples.end_ns[row]);
      if (ns <= 0) continue;
      waits.looked_ns += ns;
      if (samples.gil[row] != GilState::kWaits) continue;
      waits.waited_ns += ns;
      holders.Add(row, within);
    }
    waits.holders = holders.Take();
    if (waits.waited_ns > 0 && !waits.thread.IsNone()) all.push_back(std::move(waits));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const GilWaits& a, const GilWaits& b) { return a.waited_ns > b.waited_ns; });
  return all;
}

}  // namespace batchlight
