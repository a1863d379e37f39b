#include "analysis/gpu/gpu_sums.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>

#include "analysis/cuda/cuda_call.h"
#include "analysis/steps/step_clock.h"
#include "analysis/steps/step_lookup.h"
#include "store/interval_index.h"

namespace batchlight {
namespace {

void AddStream(uint32_t stream, std::vector<uint32_t>& streams) {
  constexpr size_t kMost = 16;
  const auto place = std::lower_bound(streams.begin(), streams.end(), stream);
  if ((place != streams.end() && *place == stream) || streams.size() == kMost) return;
  streams.insert(place, stream);
}

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

// Asked in order of (thread, time) it seeks cheaply, so that launches of one thread, which come
// almost in order, cost little.
class GpuSums::StepOfCall {
 public:
  StepOfCall(const Store& store, const StepSet& steps) : store_(store), steps_(steps) {
    for (const ProcessSteps& process : steps.processes) {
      firsts_.push_back(count_);
      count_ += static_cast<uint32_t>(process.steps.size());
    }
  }

  uint32_t At(ApiCallId call) {
    if (call.IsNone()) return count_;
    const size_t row = call.row();
    if (const ThreadId thread = store_.api_calls.thread[row]; thread != thread_) Seek(thread);
    const size_t step = lookup_.RowAt(store_.api_calls.start_ns[row]);
    return step == StepLookup::kNone ? count_ : first_ + static_cast<uint32_t>(step);
  }

 private:
  void Seek(ThreadId thread) {
    thread_ = thread;
    const ProcessSteps* process = steps_.Of(store_.ProcessOf(thread));
    // Threads that take turns are at about the same time.
    if (process == process_) return;
    process_ = process;
    lookup_ = StepLookup(process);
    if (process != nullptr) first_ = firsts_[static_cast<size_t>(process - steps_.Main())];
  }

  const Store& store_;
  const StepSet& steps_;
  std::vector<uint32_t> firsts_;  // by process: its first step
  uint32_t count_ = 0;
  ThreadId thread_;
  const ProcessSteps* process_ = nullptr;  // that the lookup is about
  StepLookup lookup_;
  uint32_t first_ = 0;
};

// Which pieces count, and for how long: those that steady steps launched; in a stretch of time what
// of any lies in it, and they are counted where they begin.
class GpuSums::Choice {
 public:
  struct Part {
    bool counts = false;
    int64_t ns = 0;
  };

  Choice(const Store& store, const StepSet& steps) : store_(store), within_(steps.within) {
    is_chosen_.resize(store.processes.size(), 0);
    for (const ProcessSteps& process : steps.processes) {
      const size_t first = is_steady_.size();
      is_steady_.resize(first + process.steps.size(), 0);
      for (const uint32_t row : process.steady) is_steady_[first + row] = 1;
      is_chosen_[process.process.row()] = 1;
    }
    is_steady_.push_back(0);  // what is in no step
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
  Part Of(const Table& table, const Pieces& pieces, size_t i) const {
    return Of(pieces.step[i], table.process[i], table.start_ns[i], table.end_ns[i]);
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

template <typename Table>
std::vector<uint32_t> GpuSums::StepsOf(const Table& table, StepOfCall& step_of_call) {
  std::vector<uint32_t> steps(table.size());
  for (size_t i = 0; i < steps.size(); ++i) steps[i] = step_of_call.At(table.api_call[i]);
  return steps;
}

// Work of one table that steady steps launched, ns.
template <typename Table>
double GpuSums::SteadyNs(const Table& table, const Pieces& pieces, const Choice& choice) {
  double sum = 0;
  for (size_t i = 0; i < pieces.step.size(); ++i) {
    if (table.end_ns[i] != kOpenEnd) sum += double(choice.Of(table, pieces, i).ns);
  }
  return sum;
}

void GpuSums::AddKernels(const Attribution& work) {
  const KernelsTable& kernels = store_.kernels;
  std::vector<KernelRow>& rows = whole_.kernels;
  std::vector<std::map<KernelLaunchId, uint64_t>> launches;
  // By string, and at last for none: the row, if it was seen.
  std::vector<uint32_t> known(store_.strings.size() + 1, kNoRow);
  kernels_.row.resize(kernels.size());
  for (size_t i = 0; i < kernels.size(); ++i) {
    const StringId name = kernels.demangled_name[i];
    uint32_t& found = known[name.IsNone() ? known.size() - 1 : name.row()];
    if (found == kNoRow) {
      found = static_cast<uint32_t>(rows.size());
      rows.push_back({.name = kernels.demangled_name[i],
                      .short_name = kernels.short_name[i],
                      .min_ns = INT64_MAX,
                      .kind = ClassifyKernel(store_.Text(kernels.demangled_name[i]))});
      launches.emplace_back();
    }
    kernels_.row[i] = found;
    KernelRow& row = rows[found];
    const int64_t duration_ns = kernels.end_ns[i] - kernels.start_ns[i];
    ++row.calls;
    row.total_ns += duration_ns;
    row.min_ns = std::min(row.min_ns, duration_ns);
    row.max_ns = std::max(row.max_ns, duration_ns);
    if (row.owner.IsNone()) row.owner = work.kernels[i].op;
    ++launches[found][kernels.launch[i]];
    AddStream(kernels.stream[i], row.streams);
    whole_.kernel_ns += duration_ns;
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto most = std::max_element(launches[i].begin(), launches[i].end(),
                                       [](auto& a, auto& b) { return a.second < b.second; });
    rows[i].launch = most->first;
    if (store_.gpus.size() > 0 && most->first.row() < store_.kernel_launches.size()) {
      rows[i].occupancy =
          TheoreticalOccupancy(store_.kernel_launches.Row(most->first.row()), store_.gpus.Row(0));
    }
  }
  SortRows(rows, kernels_.row, [&](const KernelRow& a, const KernelRow& b) {
    if (a.total_ns != b.total_ns) return a.total_ns > b.total_ns;
    return store_.Text(a.name) < store_.Text(b.name);
  });
}

void GpuSums::AddCopies() {
  const MemcpysTable& copies = store_.memcpys;
  std::vector<CopyRow>& rows = whole_.copies;
  std::map<std::tuple<CopyKind, MemoryKind, MemoryKind>, uint32_t> known;
  copies_.row.resize(copies.size());
  for (size_t i = 0; i < copies.size(); ++i) {
    const auto [found, added] =
        known.try_emplace({copies.copy_kind[i], copies.source_kind[i], copies.destination_kind[i]},
                          static_cast<uint32_t>(rows.size()));
    copies_.row[i] = found->second;
    if (added) {
      rows.emplace_back();
      std::tie(rows.back().kind, rows.back().source, rows.back().destination) = found->first;
    }
    CopyRow& row = rows[found->second];
    ++row.calls;
    row.bytes += copies.bytes[i];
    row.total_ns += copies.end_ns[i] - copies.start_ns[i];
  }
  SortRows(rows, copies_.row, [](const CopyRow& a, const CopyRow& b) {
    if (a.total_ns != b.total_ns) return a.total_ns > b.total_ns;
    return std::tie(a.kind, a.source, a.destination) < std::tie(b.kind, b.source, b.destination);
  });
}

void GpuSums::AddWaits(StepOfCall& step_of_call) {
  const ApiCallsTable& calls = store_.api_calls;
  const OperatorCallsTable& operators = store_.operator_calls;
  std::optional<IntervalIndex> index;  // where something waits
  std::vector<WaitRow>& rows = whole_.waits;
  enum Waiting : uint8_t { kNotLookedAt, kNo, kYes };
  std::vector<Waiting> waiting(store_.strings.size(), kNotLookedAt);
  std::map<std::pair<StringId, StringId>, uint32_t> known;
  for (size_t i = 0; i < calls.size(); ++i) {
    if (calls.name[i].IsNone() || calls.end_ns[i] == kOpenEnd) continue;
    Waiting& named = waiting[calls.name[i].row()];
    if (named == kNotLookedAt) named = IsWaitingCall(store_.Text(calls.name[i])) ? kYes : kNo;
    if (named == kNo) continue;
    if (!index) index.emplace(operators.thread, operators.start_ns, operators.end_ns);
    const uint32_t op = index->Innermost(calls.thread[i], calls.start_ns[i]);
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
    waits_.row.push_back(found->second);
    waits_.step.push_back(step_of_call.At(ApiCallId::At(i)));
  }
  SortRows(rows, waits_.row, [](const WaitRow& a, const WaitRow& b) {
    if (a.total_ns != b.total_ns) return a.total_ns > b.total_ns;
    return std::tie(a.call, a.operator_name) < std::tie(b.call, b.operator_name);
  });
}

void GpuSums::SetKernels(const Choice& choice, const StepClock& clock, GpuSummary& summary) const {
  const KernelsTable& kernels = store_.kernels;
  std::vector<int64_t> ns(summary.kernels.size(), 0);
  std::vector<uint64_t> calls(summary.kernels.size(), 0), of_graphs(summary.kernels.size(), 0);
  for (size_t i = 0; i < kernels.size(); ++i) {
    const Choice::Part part = choice.Of(kernels, kernels_, i);
    ns[kernels_.row[i]] += part.ns;
    calls[kernels_.row[i]] += part.counts ? 1 : 0;
    of_graphs[kernels_.row[i]] += part.counts && kernels.graph_node[i] != 0;
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
    const Choice::Part part = choice.Of(copies, copies_, i);
    CopyRow& row = summary.copies[copies_.row[i]];
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
    const Choice::Part part = choice.OfCall(waits_.step[i], wait_calls_[i]);
    WaitRow& row = summary.waits[waits_.row[i]];
    row.calls_per_step += part.counts ? 1 : 0;
    row.per_step_ns += double(part.ns);
  }
  for (WaitRow& row : summary.waits) {
    row.calls_per_step = clock.PerStep(row.calls_per_step);
    row.per_step_ns = clock.PerStep(row.per_step_ns);
  }
}

void GpuSums::SetShares(const Choice& choice, const StepClock& clock, GpuSummary& summary) const {
  summary.work_per_step_ns = clock.PerStep(SteadyNs(store_.kernels, kernels_, choice) +
                                           SteadyNs(store_.memcpys, copies_, choice) +
                                           SteadyNs(store_.memsets, memsets_, choice) +
                                           SteadyNs(store_.graph_launches, graphs_, choice));
  const double whole_ns = clock.count() > 0 ? summary.work_per_step_ns : double(summary.work_ns);
  if (whole_ns <= 0) return;
  for (KernelRow& row : summary.kernels) {
    row.share = (clock.count() > 0 ? row.per_step_ns : double(row.total_ns)) / whole_ns;
  }
}

GpuSums::GpuSums(const StepInputs& inputs, const StepSet& steps, const Attribution& work)
    : store_(inputs.store), breakdowns_(inputs, steps) {
  if (work.total_ns == 0) return;
  whole_.work_ns = work.total_ns;
  whole_.unattributed_ns = work.unattributed_ns;
  whole_.kernel_count = store_.kernels.size();
  StepOfCall step_of_call(store_, steps);
  kernels_.step = StepsOf(store_.kernels, step_of_call);
  copies_.step = StepsOf(store_.memcpys, step_of_call);
  memsets_.step = StepsOf(store_.memsets, step_of_call);
  graphs_.step = StepsOf(store_.graph_launches, step_of_call);
  AddKernels(work);
  AddCopies();
  AddWaits(step_of_call);
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
