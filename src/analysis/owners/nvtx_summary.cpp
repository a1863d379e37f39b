#include "analysis/owners/nvtx_summary.h"

#include <algorithm>
#include <unordered_map>

#include "analysis/numbers/closed_end.h"
#include "analysis/owners/attribution.h"
#include "analysis/owners/critical_time.h"
#include "analysis/phases/plain_spans.h"
#include "analysis/steps/step_clock.h"

namespace batchlight {
namespace {

class NvtxTable {
 public:
  NvtxTable(const Store& store, const StepSet& steps, const CriticalTime& critical)
      : store_(store), ranges_(store.nvtx_ranges), clock_(store, steps), critical_(critical) {}

  NvtxSummary Build(const Attribution& work) {
    for (size_t range = 0; range < ranges_.size(); ++range) Add(range);
    SubtractInner();
    AddGpuTime(work);
    SetDurations();
    NvtxSummary summary{.ranges = ranges_.size(), .marks = store_.nvtx_marks.size()};
    for (size_t mark = 0; mark < store_.nvtx_marks.size(); ++mark) {
      summary.marks -= IsDetailMark(store_, mark);
    }
    for (size_t row = 0; row < rows_.size(); ++row) {
      rows_[row].total_per_step_ns = clock_.PerStep(double(steady_[row]));
      rows_[row].beside_per_step_ns = clock_.PerStep(double(beside_[row]));
      rows_[row].share_of_step = clock_.ShareOfStep(rows_[row].total_per_step_ns);
    }
    summary.rows = std::move(rows_);
    std::sort(summary.rows.begin(), summary.rows.end(), [&](const NvtxRow& a, const NvtxRow& b) {
      if (a.total_ns != b.total_ns) return a.total_ns > b.total_ns;
      return store_.Text(a.message) < store_.Text(b.message);
    });
    return summary;
  }

 private:
  int64_t Duration(size_t range) const {
    return ClosedEnd(store_, ranges_.start_ns[range], ranges_.end_ns[range]) -
           ranges_.start_ns[range];
  }

  // Domains are numbered per process, but summed over processes by name.
  StringId DomainName(NvtxDomainId domain) const {
    return domain.IsNone() ? StringId::None() : store_.nvtx_domains.name[domain.row()];
  }

  void Add(size_t range) {
    const NvtxStyle style = ranges_.style[range];
    const StringId domain = DomainName(ranges_.domain[range]);
    const uint64_t style_and_domain = (uint64_t{domain.value} << 1) | Number(style);
    const auto [found, added] = known_.try_emplace(Key{ranges_.message[range], style_and_domain},
                                                   static_cast<uint32_t>(rows_.size()));
    if (added) {
      rows_.push_back({.domain = std::string(store_.Text(domain)),
                       .message = ranges_.message[range],
                       .style = style});
      steady_.push_back(0);
      beside_.push_back(0);
    }
    row_of_range_.push_back(found->second);
    const int64_t time = Duration(range);
    NvtxRow& row = rows_[found->second];
    ++row.calls;
    row.self_ns += time;
    if (IsNested(found->second, range)) return;
    row.total_ns += time;
    const ThreadId thread = ranges_.thread[range];
    const int64_t start_ns = ranges_.start_ns[range];
    if (!clock_.IsSteady(thread, start_ns)) return;
    const CriticalPart part = critical_.Of(thread, start_ns, start_ns + time, critical_at_);
    steady_[found->second] += part.lasting_ns;
    beside_[found->second] += part.beside_ns;
  }

  // Inside another range of the same row. Parents stand before children.
  bool IsNested(uint32_t row, size_t range) const {
    for (NvtxRangeId around = ranges_.parent[range]; !around.IsNone();
         around = ranges_.parent[around.row()]) {
      if (row_of_range_[around.row()] == row) return true;
    }
    return false;
  }

  void SubtractInner() {
    for (size_t range = 0; range < ranges_.size(); ++range) {
      const NvtxRangeId parent = ranges_.parent[range];
      if (!parent.IsNone()) rows_[row_of_range_[parent.row()]].self_ns -= Duration(range);
    }
  }

  // Every enclosing range of the same domain gets the work; a name inside itself gets it once.
  void AddGpuTime(const Attribution& work) {
    VisitWork(store_, work, [&](const WorkOwner& owner, int64_t duration_ns, int64_t) {
      for (NvtxRangeId range = owner.range; !range.IsNone(); range = ranges_.parent[range.row()]) {
        const uint32_t row = row_of_range_[range.row()];
        if (!IsNested(row, range.row())) rows_[row].gpu_ns += duration_ns;
      }
    });
  }

  void SetDurations() {
    std::vector<std::vector<int64_t>> durations(rows_.size());
    for (size_t row = 0; row < rows_.size(); ++row) durations[row].reserve(rows_[row].calls);
    for (size_t range = 0; range < ranges_.size(); ++range) {
      durations[row_of_range_[range]].push_back(Duration(range));
    }
    for (size_t row = 0; row < rows_.size(); ++row) {
      rows_[row].duration = Summarize(std::move(durations[row]));
    }
  }

  struct Key {
    StringId message;
    uint64_t style_and_domain;
    bool operator==(const Key&) const = default;
  };
  struct HashKey {
    size_t operator()(const Key& key) const {
      return (key.message.value * 0x9e3779b97f4a7c15u) ^
             (key.style_and_domain * 0xff51afd7ed558ccdu);
    }
  };

  const Store& store_;
  const NvtxRangesTable& ranges_;
  StepClock clock_;
  const CriticalTime& critical_;
  size_t critical_at_ = 0;
  std::vector<NvtxRow> rows_;
  std::vector<int64_t> steady_;
  std::vector<int64_t> beside_;
  std::vector<uint32_t> row_of_range_;
  std::unordered_map<Key, uint32_t, HashKey> known_;
};

}  // namespace

NvtxSummary SummarizeNvtx(const Store& store, const StepSet& steps, const CriticalTime& critical,
                          const Attribution& work) {
  return NvtxTable(store, steps, critical).Build(work);
}

}  // namespace batchlight
