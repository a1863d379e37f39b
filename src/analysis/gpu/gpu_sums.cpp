#include "analysis/gpu/gpu_sums.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>

#include "analysis/cuda/cuda_call.h"
#include "analysis/steps/step_clock.h"
#include "store/interval_index.h"

namespace batchlight {
namespace {

void AddStream(uint32_t stream, std::vector<uint32_t>& streams) {
  constexpr size_t kMost = 16;
  const auto place = std::lower_bound(streams.begin(), streams.end(), stream);
  if ((place != streams.end() && *place == stream) || streams.size() == kMost) return;
  streams.insert(place, stream);
}

// Of all kernels of a name, in as few bytes as there are: each of millions is added.
class KernelSums {
 public:
  KernelSums() = default;
  KernelSums(KernelSums&&) noexcept = default;  // a copy's last_ would be the other's

  void Add(int64_t duration_ns, KernelLaunchId launch, uint32_t stream) {
    ++calls_;
    total_ns_ += duration_ns;
    min_ns_ = std::min(min_ns_, duration_ns);
    max_ns_ = std::max(max_ns_, duration_ns);
    // Most are launched in one or two ways.
    if (last_ == nullptr || launch != last_launch_) {
      last_ = &launches_[launch];
      last_launch_ = launch;
    }
    ++*last_;
    const uint64_t bit = stream < 64 ? uint64_t{1} << stream : 0;
    if ((seen_ & bit) != 0) return;
    seen_ |= bit;
    AddStream(stream, streams_);
  }
  void Set(KernelRow& row) const {
    row.calls = calls_;
    row.total_ns = total_ns_;
    row.min_ns = min_ns_;
    row.max_ns = max_ns_;
    row.launch = std::max_element(launches_.begin(), launches_.end(), [](auto& a, auto& b) {
                   return a.second < b.second;
                 })->first;
    row.streams = streams_;
  }

 private:
  uint64_t calls_ = 0;
  int64_t total_ns_ = 0;
  int64_t min_ns_ = INT64_MAX;
  int64_t max_ns_ = 0;
  std::map<KernelLaunchId, uint64_t> launches_;  // nodes stay where they are
  KernelLaunchId last_launch_;
  uint64_t* last_ = nullptr;
  uint64_t seen_ = 0;  // streams below 64
  std::vector<uint32_t> streams_;
};

// Puts rows in order; `row_of` has the places of pieces in them.
template <typename Row, typename Before>
void SortRows(std::vector<Row>& rows, std::vector<uint32_t>& row_of, Before before) {
  std::vector<uint32_t> order(rows.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return before(rows[a], rows[b]); });
  std::vector<Row> sorted;
  std::vector<uint32_t> place(rows.size());
  for (uint32_t i = 0; i < order.size(); ++i) {
    place[order[i]] = i;
    sorted.push_back(std::move(rows[order[i]]));
  }
  rows = std::move(sorted);
  for (uint32_t& row : row_of) row = place[row];
}

// By process as the steps are, so that the first breakdown is of the first process.
void OrderByProcess(const StepSet& steps, std::vector<GpuBreakdown>& breakdowns) {
  const auto place = [&](const GpuBreakdown& gpu) {
    return std::find_if(
        steps.processes.begin(), steps.processes.end(),
        [&](const ProcessSteps& process) { return process.process == gpu.process; });
  };
  std::stable_sort(
      breakdowns.begin(), breakdowns.end(),
      [&](const GpuBreakdown& a, const GpuBreakdown& b) { return place(a) < place(b); });
}

}  // namespace

// Which pieces count, and for how long: those that steady steps launched; in a stretch of time what
// of any lies in it, and they are counted where they begin.
class GpuSums::Choice {
 public:
  struct Part {
    bool counts = false;
    int64_t ns = 0;
  };

  Choice(const Store& store, const StepSet& steps)
      : store_(store), within_(steps.within), is_steady_(SteadySteps(steps)) {
    is_chosen_.resize(store.processes.size(), 0);
    for (const ProcessSteps& process : steps.processes) is_chosen_[process.process.row()] = 1;
  }

  // `step`: counted through all processes.
  Part Of(uint32_t step, ProcessId process, int64_t start_ns, int64_t end_ns) const {
    if (!within_) {
      if (is_steady_[step] == 0) return {};
      return {true, end_ns - start_ns};
    }
    if (process.IsNone() || is_chosen_[process.row()] == 0) return {};
    return {start_ns >= within_->start_ns && start_ns < within_->end_ns,
            PartInside({start_ns, end_ns}, *within_).duration_ns()};
  }
  template <typename Table>
  Part Of(const Table& table, const std::vector<uint32_t>& steps, size_t i) const {
    return Of(steps[i], table.process[i], table.start_ns[i], table.end_ns[i]);
  }
  Part OfCall(uint32_t step, size_t row) const {
    const ApiCallsTable& calls = store_.api_calls;
    return Of(step, within_ ? store_.ProcessOf(calls.thread[row]) : ProcessId(),
              calls.start_ns[row], calls.end_ns[row]);
  }

 private:
  const Store& store_;
  const std::optional<TimeSpan> within_;
  std::vector<char> is_steady_;  // by step
  std::vector<char> is_chosen_;  // by process
};

// Work of one table that steady steps launched, ns.
template <typename Table>
double GpuSums::SteadyNs(const Table& table, const std::vector<uint32_t>& steps,
                         const Choice& choice) {
  double sum = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (table.end_ns[i] != kOpenEnd) sum += double(choice.Of(table, steps, i).ns);
  }
  return sum;
}

void GpuSums::AddKernels(const Attribution& work) {
  const KernelsTable& kernels = store_.kernels;
  std::vector<KernelRow>& rows = whole_.kernels;
  std::vector<KernelSums> sums;
  std::vector<char> owned;  // by row
  // By string, and at last for none: the row, if it was seen.
  std::vector<uint32_t> known(store_.strings.size() + 1, kNoRow);
  kernel_rows_.resize(kernels.size());
  for (size_t i = 0; i < kernels.size(); ++i) {
    const StringId name = kernels.demangled_name[i];
    uint32_t& found = known[name.IsNone() ? known.size() - 1 : name.row()];
    if (found == kNoRow) {
      found = static_cast<uint32_t>(rows.size());
      rows.push_back({.name = kernels.demangled_name[i],
                      .short_name = kernels.short_name[i],
                      .kind = ClassifyKernel(store_.Text(kernels.demangled_name[i]))});
      sums.emplace_back();
      owned.push_back(0);
    }
    kernel_rows_[i] = found;
    const int64_t duration_ns = kernels.end_ns[i] - kernels.start_ns[i];
    sums[found].Add(duration_ns, kernels.launch[i], kernels.stream[i]);
    whole_.kernel_ns += duration_ns;
    if (owned[found] != 0) continue;
    rows[found].owner = work.kernels[i].op;
    owned[found] = !work.kernels[i].op.IsNone();
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    sums[i].Set(rows[i]);
    const KernelLaunchId most = rows[i].launch;
    if (store_.gpus.size() > 0 && most.row() < store_.kernel_launches.size()) {
      rows[i].occupancy =
          TheoreticalOccupancy(store_.kernel_launches.Row(most.row()), store_.gpus.Row(0));
    }
  }
  SortRows(rows, kernel_rows_, [&](const KernelRow& a, const KernelRow& b) {
    if (a.total_ns != b.total_ns) return a.total_ns > b.total_ns;
    return store_.Text(a.name) < store_.Text(b.name);
  });
}

void GpuSums::AddCopies() {
  const MemcpysTable& copies = store_.memcpys;
  std::vector<CopyRow>& rows = whole_.copies;
  std::map<std::tuple<CopyKind, MemoryKind, MemoryKind>, uint32_t> known;
  copy_rows_.resize(copies.size());
  for (size_t i = 0; i < copies.size(); ++i) {
    const auto [found, added] =
        known.try_emplace({copies.copy_kind[i], copies.source_kind[i], copies.destination_kind[i]},
                          static_cast<uint32_t>(rows.size()));
    copy_rows_[i] = found->second;
    if (added) {
      rows.emplace_back();
      std::tie(rows.back().kind, rows.back().source, rows.back().destination) = found->first;
    }
    CopyRow& row = rows[found->second];
    ++row.calls;
    row.bytes += copies.bytes[i];
    row.total_ns += copies.end_ns[i] - copies.start_ns[i];
  }
  SortRows(rows, copy_rows_, [](const CopyRow& a, const CopyRow& b) {
    if (a.total_ns != b.total_ns) return a.total_ns > b.total_ns;
    return std::tie(a.kind, a.source, a.destination) < std::tie(b.kind, b.source, b.destination);
  });
}

void GpuSums::AddWaits(const IntervalIndex& index, const StepSet& steps) {
  StepOfCall step_of_call(store_, steps);
  const ApiCallsTable& calls = store_.api_calls;
  const OperatorCallsTable& operators = store_.operator_calls;
  std::vector<WaitRow>& rows = whole_.waits;
  enum Waiting : uint8_t { kNotLookedAt, kNo, kYes };
  std::vector<Waiting> waiting(store_.strings.size(), kNotLookedAt);
  std::map<std::pair<StringId, StringId>, uint32_t> known;
  for (size_t i = 0; i < calls.size(); ++i) {
    if (calls.name[i].IsNone() || calls.end_ns[i] == kOpenEnd) continue;
    Waiting& named = waiting[calls.name[i].row()];
    if (named == kNotLookedAt) named = IsWaitingCall(store_.Text(calls.name[i])) ? kYes : kNo;
    if (named == kNo) continue;
    const uint32_t op = index.Innermost(calls.thread[i], calls.start_ns[i]);
    const StringId op_name = op == kNoRow ? StringId::None() : operators.name[op];
    const auto [found, added] =
        known.try_emplace({calls.name[i], op_name}, static_cast<uint32_t>(rows.size()));
    if (added) {
      rows.push_back({.call = calls.name[i], .operator_name = op_name});
      if (op != kNoRow) rows.back().owner = OperatorCallId::At(op);
    }
    WaitRow& row = rows[found->second];
    wait_calls_.push_back(static_cast<uint32_t>(i));
    ++row.calls;
    row.total_ns += calls.end_ns[i] - calls.start_ns[i];
    wait_rows_.push_back(found->second);
    wait_steps_.push_back(step_of_call.At(ApiCallId::At(i)));
  }
  SortRows(rows, wait_rows_, [](const WaitRow& a, const WaitRow& b) {
    if (a.total_ns != b.total_ns) return a.total_ns > b.total_ns;
    return std::tie(a.call, a.operator_name) < std::tie(b.call, b.operator_name);
  });
}

void GpuSums::SetKernels(const Choice& choice, const StepClock& clock, GpuSummary& summary) const {
  const KernelsTable& kernels = store_.kernels;
  std::vector<int64_t> ns(summary.kernels.size(), 0);
  std::vector<uint64_t> calls(summary.kernels.size(), 0), of_graphs(summary.kernels.size(), 0);
  for (size_t i = 0; i < kernels.size(); ++i) {
    const Choice::Part part = choice.Of(kernels, launched_.kernels, i);
    ns[kernel_rows_[i]] += part.ns;
    calls[kernel_rows_[i]] += part.counts ? 1 : 0;
    of_graphs[kernel_rows_[i]] += part.counts && kernels.graph_node[i] != 0;
  }
  for (size_t row = 0; row < ns.size(); ++row) {
    summary.kernels[row].calls_per_step = clock.PerStep(double(calls[row]));
    summary.kernels[row].graph_calls_per_step = clock.PerStep(double(of_graphs[row]));
    summary.kernels[row].per_step_ns = clock.PerStep(double(ns[row]));
  }
}

void GpuSums::SetCopies(const Choice& choice, const StepClock& clock, GpuSummary& summary) const {
  const MemcpysTable& copies = store_.memcpys;
  for (size_t i = 0; i < copies.size(); ++i) {
    const Choice::Part part = choice.Of(copies, launched_.memcpys, i);
    CopyRow& row = summary.copies[copy_rows_[i]];
    row.calls_per_step += part.counts ? 1 : 0;
    row.bytes_per_step += part.counts ? double(copies.bytes[i]) : 0;
    row.per_step_ns += double(part.ns);
  }
  for (CopyRow& row : summary.copies) {
    row.calls_per_step = clock.PerStep(row.calls_per_step);
    row.bytes_per_step = clock.PerStep(row.bytes_per_step);
    row.per_step_ns = clock.PerStep(row.per_step_ns);
  }
}

void GpuSums::SetWaits(const Choice& choice, const StepClock& clock, GpuSummary& summary) const {
  for (size_t i = 0; i < wait_calls_.size(); ++i) {
    const Choice::Part part = choice.OfCall(wait_steps_[i], wait_calls_[i]);
    WaitRow& row = summary.waits[wait_rows_[i]];
    row.calls_per_step += part.counts ? 1 : 0;
    row.per_step_ns += double(part.ns);
  }
  for (WaitRow& row : summary.waits) {
    row.calls_per_step = clock.PerStep(row.calls_per_step);
    row.per_step_ns = clock.PerStep(row.per_step_ns);
  }
}

void GpuSums::SetShares(const Choice& choice, const StepClock& clock, GpuSummary& summary) const {
  summary.work_per_step_ns =
      clock.PerStep(SteadyNs(store_.kernels, launched_.kernels, choice) +
                    SteadyNs(store_.memcpys, launched_.memcpys, choice) +
                    SteadyNs(store_.memsets, launched_.memsets, choice) +
                    SteadyNs(store_.graph_launches, launched_.graph_launches, choice));
  const double whole_ns = clock.count() > 0 ? summary.work_per_step_ns : double(summary.work_ns);
  if (whole_ns <= 0) return;
  for (KernelRow& row : summary.kernels) {
    row.share = (clock.count() > 0 ? row.per_step_ns : double(row.total_ns)) / whole_ns;
  }
}

GpuSums::GpuSums(const GpuActivity& gpus, const StepSet& steps, const LaunchSteps& launched,
                 const Attribution& work)
    : store_(gpus.store), launched_(launched), breakdowns_(gpus, steps) {
  if (work.total_ns == 0) return;
  whole_.work_ns = work.total_ns;
  whole_.unattributed_ns = work.unattributed_ns;
  whole_.kernel_count = store_.kernels.size();
  AddKernels(work);
  AddCopies();
  AddWaits(gpus.idle->operators(), steps);
}

GpuSummary GpuSums::Of(const StepSet& steps) const {
  GpuSummary summary = whole_;
  if (summary.work_ns == 0) return summary;
  const Choice choice(store_, steps);
  const StepClock clock(store_, steps);
  if (!steps.within) {
    summary.breakdowns = breakdowns_.Of(steps);
    OrderByProcess(steps, summary.breakdowns);
  }
  SetKernels(choice, clock, summary);
  SetCopies(choice, clock, summary);
  SetWaits(choice, clock, summary);
  SetShares(choice, clock, summary);
  return summary;
}

}  // namespace batchlight
