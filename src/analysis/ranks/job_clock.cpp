#include "analysis/ranks/job_clock.h"

#include <algorithm>
#include <set>
#include <utility>

#include "analysis/ranks/clock_alignment.h"
#include "analysis/ranks/host_clocks.h"
#include "analysis/ranks/nccl_calls.h"
#include "analysis/ranks/rank_calls.h"

namespace batchlight {
namespace {

// The start of each input on the clock of the job, as the hosts' clocks say it.
std::vector<int64_t> StartsByUtc(std::span<const Store* const> inputs,
                                 std::span<const std::string> labels, ClocksOfJob& clocks) {
  int64_t first_ns = INT64_MAX;
  for (const Store* store : inputs) {
    if (store->session_start_utc_ns > 0) first_ns = std::min(first_ns, store->session_start_utc_ns);
  }
  std::vector<int64_t> starts(inputs.size());
  if (first_ns == INT64_MAX) {
    clocks.notes.push_back("no input says when it began: all are taken to begin together");
    return starts;
  }
  clocks.start_utc_ns = first_ns;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i]->session_start_utc_ns > 0) {
      starts[i] = inputs[i]->session_start_utc_ns - first_ns;
    } else {
      clocks.notes.push_back(labels[i] + " does not say when it began: taken to begin first");
    }
  }
  return starts;
}

size_t CountHosts(std::span<const Store* const> inputs) {
  std::set<std::string> hosts;
  for (const Store* store : inputs) hosts.emplace(store->Property("machine.hostname"));
  return hosts.size();
}

ClockAlignment AlignByCollectives(std::span<const Store* const> inputs,
                                  const std::vector<int64_t>& starts) {
  std::vector<std::vector<RankCalls>> calls;
  for (const Store* store : inputs) {
    calls.push_back(CollectRankCalls(*store, FindNcclCalls(*store), {}));
  }
  std::vector<ClockInput> clock_inputs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    ClockInput& input = clock_inputs.emplace_back();
    input.start_ns = starts[i];
    for (const RankCalls& rank : calls[i]) {
      if (rank.size() > 0) input.ranks.push_back(&rank);
    }
  }
  return AlignClocks(clock_inputs);
}

// Inputs of one job ran at the same time. Where a clock says otherwise and nothing corrected it,
// they are taken to begin together: hours of nothing would help nobody.
void CloseGaps(std::span<const Store* const> inputs, std::span<const std::string> labels,
               ClocksOfJob& clocks) {
  const auto start_of = [&](size_t i) { return clocks.shifts[i].Of(0); };
  const auto end_of = [&](size_t i) { return clocks.shifts[i].Of(inputs[i]->duration_ns); };
  for (size_t i = 1; i < inputs.size(); ++i) {
    bool meets = false;
    for (size_t other = 0; other < i; ++other) {
      meets = meets || (start_of(i) <= end_of(other) && start_of(other) <= end_of(i));
    }
    if (meets) continue;
    clocks.notes.push_back("by its host's clock " + labels[i] + " ran at another time than " +
                           labels[0] + ": taken to begin together with it");
    clocks.shifts[i] = {.offset_ns = start_of(0)};
  }
}

// By how much the clocks of hosts may be off, where nothing corrects them.
void SayErrors(std::span<const Store* const> inputs, ClocksOfJob& clocks) {
  std::vector<HostClock> hosts;
  for (const Store* store : inputs) hosts.push_back(HostClockOf(*store));
  std::string text = HostClocksText(hosts);
  if (!text.empty()) clocks.notes.push_back(std::move(text));
}

// The earliest time 0 becomes 0.
void BeginAtZero(ClocksOfJob& clocks) {
  int64_t first_ns = INT64_MAX;
  for (const TimeShift& shift : clocks.shifts) first_ns = std::min(first_ns, shift.Of(0));
  for (TimeShift& shift : clocks.shifts) shift.offset_ns -= first_ns;
  if (clocks.start_utc_ns > 0) clocks.start_utc_ns += first_ns;
}

}  // namespace

ClocksOfJob SettleClocks(std::span<const Store* const> inputs, std::span<const std::string> labels,
                         JobClock clock) {
  ClocksOfJob clocks;
  if (clock == JobClock::kNone) {
    clocks.shifts.resize(inputs.size());
    clocks.start_utc_ns = inputs[0]->session_start_utc_ns;
    clocks.how = "clocks are not compared: all inputs begin at 0";
    return clocks;
  }
  const std::vector<int64_t> starts = StartsByUtc(inputs, labels, clocks);
  for (const int64_t start_ns : starts) clocks.shifts.push_back({.offset_ns = start_ns});
  clocks.how = "clocks are those of the hosts (UTC)";
  bool by_collectives = false;
  if (clock == JobClock::kCollectives) {
    ClockAlignment alignment = AlignByCollectives(inputs, starts);
    const std::string text = alignment.Text();
    by_collectives = !text.empty();
    if (by_collectives) {
      clocks.shifts = std::move(alignment.shifts);
      clocks.how = text;
    } else if (CountHosts(inputs) > 1) {
      clocks.how += ": there are no collectives of GPUs to align them by";
    }
  }
  if (!by_collectives && CountHosts(inputs) > 1) SayErrors(inputs, clocks);
  CloseGaps(inputs, labels, clocks);
  BeginAtZero(clocks);
  return clocks;
}

}  // namespace batchlight
