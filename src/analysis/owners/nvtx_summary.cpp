#include "analysis/owners/nvtx_summary.h"

#include <algorithm>
#include <unordered_map>

#include "analysis/numbers/closed_end.h"
#include "analysis/numbers/most_levels.h"
#include "analysis/owners/attribution.h"
#include "analysis/owners/critical_time.h"
#include "analysis/owners/nvtx_sums.h"
#include "analysis/owners/steady_rows.h"
#include "analysis/phases/plain_spans.h"
#include "analysis/steps/step_clock.h"

namespace batchlight {
namespace {

struct Key {
  StringId message;
  uint64_t style_and_domain;
  bool operator==(const Key&) const = default;
};

struct HashKey {
  size_t operator()(const Key& key) const {
    return (key.message.value * 0x9e3779b97f4a7c15u) ^ (key.style_and_domain * 0xff51afd7ed558ccdu);
  }
};

// Domains are numbered per process, but summed over processes by name.
StringId DomainName(const Store& store, NvtxDomainId domain) {
  return domain.IsNone() ? StringId::None() : store.nvtx_domains.name[domain.row()];
}

}  // namespace

NvtxSums::NvtxSums(const Store& store, const Attribution& work)
    : store_(store), threads_(store.nvtx_ranges.thread) {
  AddRanges();
  AddGpuTime(work);
  SetDurations();
}

int64_t NvtxSums::Duration(size_t range) const {
  const NvtxRangesTable& ranges = store_.nvtx_ranges;
  return ClosedEnd(store_, ranges.start_ns[range], ranges.end_ns[range]) - ranges.start_ns[range];
}

void NvtxSums::AddRanges() {
  const NvtxRangesTable& ranges = store_.nvtx_ranges;
  std::unordered_map<Key, uint32_t, HashKey> known;
  row_of_range_.reserve(ranges.size());
  outermost_.resize(ranges.size());
  const auto is_nested = [&](size_t range) {  // inside another one of the same row
    NvtxRangeId around = ranges.parent[range];
    for (size_t level = 0; !around.IsNone() && level < kMostLevels; ++level) {
      if (row_of_range_[around.row()] == row_of_range_[range]) return true;
      around = ranges.parent[around.row()];
    }
    return false;
  };
  for (size_t range = 0; range < ranges.size(); ++range) {  // parents stand before children
    const NvtxStyle style = ranges.style[range];
    const StringId domain = DomainName(store_, ranges.domain[range]);
    const uint64_t style_and_domain = (uint64_t{domain.value} << 1) | Number(style);
    const auto [found, added] = known.try_emplace(Key{ranges.message[range], style_and_domain},
                                                  static_cast<uint32_t>(rows_.size()));
    if (added) {
      rows_.push_back({.domain = std::string(store_.Text(domain)),
                       .message = ranges.message[range],
                       .style = style});
    }
    row_of_range_.push_back(found->second);
    outermost_[range] = !is_nested(range);
    const int64_t time_ns = Duration(range);
    NvtxRow& row = rows_[found->second];
    ++row.calls;
    row.self_ns += time_ns;
    if (outermost_[range]) row.total_ns += time_ns;
    const NvtxRangeId parent = ranges.parent[range];
    if (!parent.IsNone()) rows_[row_of_range_[parent.row()]].self_ns -= time_ns;
  }
}

// Every enclosing range of the same domain gets the work; a name inside itself gets it once.
void NvtxSums::AddGpuTime(const Attribution& work) {
  const NvtxRangesTable& ranges = store_.nvtx_ranges;
  VisitWork(store_, work, [&](const WorkOwner& owner, int64_t duration_ns, int64_t) {
    for (NvtxRangeId range = owner.range; !range.IsNone(); range = ranges.parent[range.row()]) {
      if (outermost_[range.row()]) rows_[row_of_range_[range.row()]].gpu_ns += duration_ns;
    }
  });
}

void NvtxSums::SetDurations() {
  std::vector<std::vector<int64_t>> durations(rows_.size());
  for (size_t row = 0; row < rows_.size(); ++row) durations[row].reserve(rows_[row].calls);
  for (size_t range = 0; range < row_of_range_.size(); ++range) {
    durations[row_of_range_[range]].push_back(Duration(range));
  }
  for (size_t row = 0; row < rows_.size(); ++row) {
    rows_[row].duration = Summarize(std::move(durations[row]));
  }
}

NvtxSummary NvtxSums::Of(const StepSet& steps, const CriticalTime& critical) const {
  const NvtxRangesTable& ranges = store_.nvtx_ranges;
  std::vector<int64_t> lasting_ns(rows_.size());
  std::vector<int64_t> beside_ns(rows_.size());
  size_t critical_at = 0;
  for (const SteadyRows& rows :
       FindSteadyRows(store_, steps, threads_, ranges.start_ns, ranges.end_ns)) {
    for (size_t range = rows.begin; range < rows.end; ++range) {
      // One that was never ended lasts until the program does, which says nothing of a step.
      if (!outermost_[range] || ranges.end_ns[range] == kOpenEnd) continue;
      const int64_t start_ns = ranges.start_ns[range];
      const CriticalPart part =
          critical.Of(ranges.thread[range], start_ns, start_ns + Duration(range), critical_at);
      lasting_ns[row_of_range_[range]] += part.lasting_ns;
      beside_ns[row_of_range_[range]] += part.beside_ns;
    }
  }
  NvtxSummary summary{.rows = rows_, .ranges = ranges.size(), .marks = store_.nvtx_marks.size()};
  for (size_t mark = 0; mark < store_.nvtx_marks.size(); ++mark) {
    summary.marks -= IsDetailMark(store_, mark);
  }
  const StepClock clock(store_, steps);
  for (size_t row = 0; row < rows_.size(); ++row) {
    summary.rows[row].total_per_step_ns = clock.PerStep(double(lasting_ns[row]));
    summary.rows[row].beside_per_step_ns = clock.PerStep(double(beside_ns[row]));
    summary.rows[row].share_of_step = clock.ShareOfStep(summary.rows[row].total_per_step_ns);
  }
  std::sort(summary.rows.begin(), summary.rows.end(), [&](const NvtxRow& a, const NvtxRow& b) {
    if (a.total_ns != b.total_ns) return a.total_ns > b.total_ns;
    return store_.Text(a.message) < store_.Text(b.message);
  });
  return summary;
}

NvtxSummary SummarizeNvtx(const Store& store, const StepSet& steps, const CriticalTime& critical,
                          const Attribution& work) {
  return NvtxSums(store, work).Of(steps, critical);
}

}  // namespace batchlight
