#include "analysis/ranks/late/own_times.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "analysis/numbers/closed_end.h"
#include "analysis/numbers/quantile.h"
#include "analysis/owners/working_threads.h"
#include "analysis/steps/step_lookup.h"
#include "store/interval_index.h"

namespace batchlight {
namespace {

constexpr size_t kMostNames = 16;
// A step that is kept by itself is longer than the median by this part of it and of a step.
constexpr double kLongOfMedian = 0.05;
constexpr double kLongOfStep = 0.0025;
constexpr size_t kLongSteps = 4;      // one of so many at most: the longest, ...
constexpr size_t kFewLongSteps = 16;  // ... so many in any case

constexpr double kOfWaiting = 0.2;
constexpr size_t kMostLonger = 3;

// Calls of one process by name. `Table`: operator_calls or module_calls, whose parents come first.
template <typename Table>
class CallSums {
 public:
  CallSums(const Store& store, const Table& calls, const std::vector<StringId>& names,
           const ThreadSpans& spans, std::span<const ThreadId> threads, const ProcessSteps& process)
      : store_(store),
        calls_(calls),
        names_(names),
        spans_(spans),
        threads_(threads),
        process_(process) {}

  std::vector<OwnTimesOfName> Take() {
    AddTotals();
    ChooseNames();
    AddSteps();
    std::vector<OwnTimesOfName> times;
    for (const Sum& sum : chosen_) times.push_back(TimesOf(sum));
    return times;
  }

 private:
  struct Sum {
    StringId name;
    uint64_t calls = 0;
    int64_t total_ns = 0;
    std::vector<int64_t> per_step_ns;
  };

  // visit(call, row of its step, duration), of calls in steps.
  template <typename Visit>
  void VisitCalls(const Visit& visit) const {
    for (const ThreadId thread : threads_) {
      const ThreadSpans::Rows rows = spans_.Of(thread);
      StepLookup steps(&process_);
      for (uint32_t call = rows.begin; call < rows.end; ++call) {
        const size_t step = steps.RowAt(calls_.start_ns[call]);
        if (step == StepLookup::kNone) continue;
        visit(
            call, step,
            ClosedEnd(store_, calls_.start_ns[call], calls_.end_ns[call]) - calls_.start_ns[call]);
      }
    }
  }

  void AddTotals() {
    std::vector<bool> steady(process_.steps.size());
    for (const uint32_t row : process_.steady) steady[row] = true;
    VisitCalls([&](uint32_t call, size_t step, int64_t ns) {
      if (!steady[step]) return;
      Sum& sum = sums_[names_[call]];
      sum.name = names_[call];
      ++sum.calls;
      sum.total_ns += ns;
      if (!calls_.parent[call].IsNone()) sums_[names_[calls_.parent[call].row()]].total_ns -= ns;
    });
  }

  void ChooseNames() {
    for (const auto& [name, sum] : sums_) {
      if (sum.calls > 0 && sum.total_ns > 0) chosen_.push_back(sum);
    }
    std::sort(chosen_.begin(), chosen_.end(), [&](const Sum& a, const Sum& b) {
      if (a.total_ns != b.total_ns) return a.total_ns > b.total_ns;
      return store_.Text(a.name) < store_.Text(b.name);
    });
    if (chosen_.size() > kMostNames) chosen_.resize(kMostNames);
  }

  void AddSteps() {
    std::unordered_map<StringId, size_t> places;
    for (Sum& sum : chosen_) {
      places.emplace(sum.name, places.size());
      sum.per_step_ns.resize(process_.steps.size());
    }
    const auto add = [&](StringId name, size_t step, int64_t ns) {
      const auto place = places.find(name);
      if (place != places.end()) chosen_[place->second].per_step_ns[step] += ns;
    };
    VisitCalls([&](uint32_t call, size_t step, int64_t ns) {
      add(names_[call], step, ns);
      if (!calls_.parent[call].IsNone()) add(names_[calls_.parent[call].row()], step, -ns);
    });
  }

  OwnTimesOfName TimesOf(const Sum& sum) const {
    const auto us_of = [&](uint32_t row) {
      return static_cast<uint32_t>(
          std::clamp<int64_t>((sum.per_step_ns[row] + 500) / 1000, 0, UINT32_MAX));
    };
    OwnTimesOfName times{.name = std::string(store_.Text(sum.name)), .calls = sum.calls};
    std::vector<uint32_t> all;
    for (const uint32_t row : process_.steady) all.push_back(us_of(row));
    if (all.empty()) return times;
    times.median_us = LowerQuantile(all, 0.5);
    const double from_us =
        times.median_us + std::max(kLongOfMedian * times.median_us,
                                   kLongOfStep * double(process_.duration.median) / 1000);
    for (const uint32_t row : process_.steady) {
      if (us_of(row) > from_us) times.rows.push_back(row);
    }
    const size_t most = std::max(kFewLongSteps, process_.steady.size() / kLongSteps);
    if (times.rows.size() > most) {
      std::nth_element(
          times.rows.begin(), times.rows.begin() + std::ptrdiff_t(most), times.rows.end(),
          [&](uint32_t a, uint32_t b) { return std::pair(us_of(b), a) < std::pair(us_of(a), b); });
      times.rows.resize(most);
      std::sort(times.rows.begin(), times.rows.end());
    }
    for (const uint32_t row : times.rows) times.us.push_back(us_of(row));
    return times;
  }

  const Store& store_;
  const Table& calls_;
  const std::vector<StringId>& names_;
  const ThreadSpans& spans_;
  const std::span<const ThreadId> threads_;
  const ProcessSteps& process_;
  std::unordered_map<StringId, Sum> sums_;
  std::vector<Sum> chosen_;
};

// The thread that runs the steps first.
std::vector<ThreadId> ThreadsOf(const ProcessSteps& process, const std::vector<ThreadId>& working) {
  std::vector<ThreadId> threads;
  if (!process.thread.IsNone()) threads.push_back(process.thread);
  for (const ThreadId thread : working) {
    if (thread != process.thread) threads.push_back(thread);
  }
  return threads;
}

// Median over the late steps.
double LateNs(const OwnTimesOfName& times, std::span<const uint32_t> rows,
              std::span<const uint32_t> late) {
  if (times.rows.empty()) return double(times.median_us) * 1000;
  std::vector<uint32_t> us;
  for (const uint32_t place : late) {
    if (place < rows.size()) us.push_back(times.UsOf(rows[place]));
  }
  return us.empty() ? 0 : double(LowerQuantile(us, 0.5)) * 1000;
}

// Of what a rank keeps of a name; of one that is not among those with most time at most the least.
double LateNsOf(std::span<const OwnTimesOfName> all, const std::string& name,
                std::span<const uint32_t> rows, std::span<const uint32_t> late) {
  for (const OwnTimesOfName& times : all) {
    if (times.name == name) return LateNs(times, rows, late);
  }
  return all.size() < kMostNames ? 0 : double(all.back().median_us) * 1000;
}

}  // namespace

uint32_t OwnTimesOfName::UsOf(uint32_t row) const {
  const auto found = std::lower_bound(rows.begin(), rows.end(), row);
  return found != rows.end() && *found == row ? us[static_cast<size_t>(found - rows.begin())]
                                              : median_us;
}

std::vector<RankOwnTimes> MeasureOwnTimes(const Store& store, const StepSet& steps) {
  const std::vector<std::vector<ThreadId>> working = FindWorkingThreads(store);
  const ThreadSpans operators(store.operator_calls.thread), modules(store.module_calls.thread);
  std::vector<RankOwnTimes> ranks;
  for (const ProcessSteps& process : steps.processes) {
    const std::vector<ThreadId> threads = ThreadsOf(process, working[process.process.row()]);
    ranks.push_back(
        {CallSums(store, store.operator_calls, store.operator_calls.name, operators, threads,
                  process)
             .Take(),
         CallSums(store, store.module_calls, store.module_calls.path, modules, threads, process)
             .Take()});
  }
  return ranks;
}

LongerCalls::LongerCalls(std::span<const OwnTimesOfName> own, std::span<const uint32_t> rows,
                         std::span<const uint32_t> late, double waited_ns)
    : late_(late), waited_ns_(waited_ns) {
  for (const OwnTimesOfName& times : own) {
    LongerCall call{.name = times.name, .ns = LateNs(times, rows, late)};
    if (IsLonger(call)) calls_.push_back(std::move(call));
  }
}

bool LongerCalls::IsLonger(const LongerCall& call) const {
  return call.ns > call.others_ns && call.ns - call.others_ns >= kOfWaiting * waited_ns_;
}

void LongerCalls::AddOther(std::span<const OwnTimesOfName> other, std::span<const uint32_t> rows) {
  if (other.empty()) return;
  any_other_ = true;
  std::erase_if(calls_, [&](LongerCall& call) {
    call.others_ns = std::max(call.others_ns, LateNsOf(other, call.name, rows, late_));
    return !IsLonger(call);
  });
}

std::vector<LongerCall> LongerCalls::Take() {
  if (!any_other_) return {};
  std::stable_sort(calls_.begin(), calls_.end(), [](const LongerCall& a, const LongerCall& b) {
    return a.ns - a.others_ns > b.ns - b.others_ns;
  });
  if (calls_.size() > kMostLonger) calls_.resize(kMostLonger);
  return std::move(calls_);
}

}  // namespace batchlight
