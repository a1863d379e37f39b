#include "analysis/lines/line_times.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analysis/cuda/kernel_class.h"
#include "analysis/lines/line_key.h"
#include "analysis/lines/line_parts.h"
#include "analysis/lines/steady_lines.h"
#include "analysis/numbers/closed_end.h"
#include "analysis/owners/attribution.h"
#include "analysis/owners/backward_links.h"
#include "analysis/steps/step_lookup.h"

namespace batchlight {
namespace {

// Which moments count: those in a steady step, or all.
class SteadyMoments {
 public:
  explicit SteadyMoments(const StepSet* steps) : all_(steps == nullptr) {
    if (all_) return;
    for (const ProcessSteps& process : steps->processes) {
      lookups_.try_emplace(process.process, &process);
    }
  }

  bool Has(ProcessId process, int64_t time_ns) {
    if (all_) return true;
    const auto lookup = lookups_.find(process);
    return lookup != lookups_.end() && lookup->second.IsSteadyAt(time_ns);
  }

 private:
  bool all_;
  std::map<ProcessId, StepLookup> lookups_;
};

class Measurer {
 public:
  Measurer(const Store& store, const BackwardLinks& links, const StepSet* steps = nullptr)
      : store_(store), lines_(store), finder_(store, links, lines_), moments_(steps) {}

  void AddOperators() {
    const OperatorCallsTable& calls = store_.operator_calls;
    const std::vector<int64_t> own = OwnTimes(store_, finder_);
    for (uint32_t row = 0; row < calls.size(); ++row) {
      if (!finder_.HasOwnPart(row)) continue;
      if (!moments_.Has(store_.ProcessOf(calls.thread[row]), calls.start_ns[row])) continue;
      const LinePart part = finder_.OfOperator(OperatorCallId::At(row));
      LineRow& line = RowOf(part);
      if (part.side == LineSide::kForward && !calls.python_stack[row].IsNone()) ++line.calls;
      Add(part, own[row], line.cpu_forward_ns, line.cpu_backward_ns, line.cpu_recompute_ns);
      times_.cpu_ns += own[row];
    }
  }

  void AddWork(const Attribution& work) {
    CallStacks calls(store_);
    const auto add = [&](const auto& table, const std::vector<WorkOwner>& owners,
                         auto&& is_collective) {
      for (size_t row = 0; row < owners.size(); ++row) {
        if (table.end_ns[row] == kOpenEnd || !IsOfAStep(table, row)) continue;
        LinePart part = finder_.OfWork(owners[row], calls.Of(table.api_call[row]));
        if (is_collective(row)) part = {.kind = LineKind::kCollective, .side = part.side};
        const int64_t ns = table.end_ns[row] - table.start_ns[row];
        LineRow& line = RowOf(part);
        Add(part, ns, line.gpu_forward_ns, line.gpu_backward_ns, line.gpu_recompute_ns);
        times_.gpu_ns += ns;
      }
    };
    const auto never = [](size_t) { return false; };
    add(store_.kernels, work.kernels, [this](size_t row) { return IsCollective(row); });
    add(store_.memcpys, work.memcpys, never);
    add(store_.memsets, work.memsets, never);
    add(store_.graph_launches, work.graph_launches, never);
  }

  LineTimes Finish() {
    for (const auto& [key, row] : rows_) {
      if (row.cpu_ns() != 0 || row.gpu_ns() != 0 || row.calls != 0) times_.rows.push_back(row);
    }
    std::stable_sort(times_.rows.begin(), times_.rows.end(),
                     [](const LineRow& a, const LineRow& b) {
                       return std::pair(a.gpu_ns(), a.cpu_ns()) > std::pair(b.gpu_ns(), b.cpu_ns());
                     });
    return std::move(times_);
  }

 private:
  LineRow& RowOf(const LinePart& part) {
    const StackLine line = part.stack.IsNone() ? StackLine() : lines_.Of(part.stack);
    const auto [place, added] = rows_.try_emplace(KeyOfLine(store_, part.kind, line.frame));
    LineRow& row = place->second;
    if (added) {
      row.kind = part.kind;
      row.frame = line.frame;
    }
    return row;
  }

  void Add(const LinePart& part, int64_t ns, int64_t& forward, int64_t& backward,
           int64_t& recompute) {
    (part.side == LineSide::kForward    ? forward
     : part.side == LineSide::kBackward ? backward
                                        : recompute) += ns;
    LineRow& row = RowOf(part);
    if (part.stack.IsNone()) return;
    int64_t& of_stack = stack_ns_[part.stack];
    of_stack += ns;
    if (row.stack.IsNone() || of_stack >= stack_ns_[row.stack]) row.stack = part.stack;
  }

  // By the moment of the launch, as in every table of GPU work by step.
  template <class Table>
  bool IsOfAStep(const Table& table, size_t row) {
    const ApiCallId call = table.api_call[row];
    return moments_.Has(table.process[row], call.IsNone() ? table.start_ns[row]
                                                          : store_.api_calls.start_ns[call.row()]);
  }

  bool IsCollective(size_t kernel) {
    const StringId name = store_.kernels.short_name[kernel];
    const auto [place, added] = collective_names_.try_emplace(name, false);
    if (added) place->second = IsNcclKernel(store_.Text(name));
    return place->second;
  }

  const Store& store_;
  StackLines lines_;
  LineFinder finder_;
  SteadyMoments moments_;
  std::map<LineKey, LineRow> rows_;
  std::map<PythonStackId, int64_t> stack_ns_;
  std::map<StringId, bool> collective_names_;
  LineTimes times_;
};

}  // namespace

std::string_view LineKindName(LineKind kind) {
  switch (kind) {
    case LineKind::kLine:
      return "line";
    case LineKind::kOptimizer:
      return "optimizer";
    case LineKind::kBackward:
      return "rest of backward";
    case LineKind::kHook:
      return "hook in backward";
    case LineKind::kCollective:
      return "collectives";
    case LineKind::kOutside:
      return "no line known";
  }
  return "";
}

LineTimes MeasureLines(const Store& store, const BackwardLinks& links, const Attribution& work) {
  if (!HasCallStacks(store)) return {};
  Measurer measurer(store, links);
  measurer.AddOperators();
  measurer.AddWork(work);
  return measurer.Finish();
}

SteadyLines MeasureSteadyLines(const Store& store, const BackwardLinks& links,
                               const Attribution& work, const StepSet& steps) {
  if (!HasCallStacks(store)) return {};
  SteadyLines result;
  for (const ProcessSteps& process : steps.processes) result.steps += process.steady.size();
  Measurer measurer(store, links, result.steps > 0 ? &steps : nullptr);
  measurer.AddOperators();
  measurer.AddWork(work);
  result.times = measurer.Finish();
  return result;
}

}  // namespace batchlight
