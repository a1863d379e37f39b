

#include "analysis/phases/phase_marks.h"

#include <algorithm>
#include <map>

#include "analysis/numbers/closed_end.h"
#include "analysis/numbers/merge_runs.h"
#include "analysis/phases/evaluations.h"
#include "analysis/phases/gradient_waits.h"
#include "analysis/phases/phase_guess.h"
#include "analysis/phases/save_spans.h"

namespace batchlight {

PhaseKind PhaseKindOfCall(Phase phase) {
  switch (phase) {
    case Phase::kBackward:
      return PhaseKind::kBackward;
    case Phase::kOptimizerStep:
      return PhaseKind::kOptimizer;
    case Phase::kZeroGrad:
      return PhaseKind::kZeroGrad;
    case Phase::kDataLoaderNext:
      return PhaseKind::kDataLoading;
    case Phase::kDataLoaderInit:
      return PhaseKind::kDataLoading;
    case Phase::kCopyToDevice:
      return PhaseKind::kCopyToDevice;
    case Phase::kCompile:
      return PhaseKind::kCompile;
    case Phase::kCheckpoint:
      return PhaseKind::kCheckpoint;
    case Phase::kValidation:
      return PhaseKind::kValidation;
    case Phase::kGradScaler:
      return PhaseKind::kOptimizer;
    default:
      return PhaseKind::kOther;
  }
}

bool TellsOfLife(Phase phase) {
  return (phase >= Phase::kImport && phase <= Phase::kMainEnd) || phase == Phase::kRecorderBuild;
}

namespace {

// Names that PyTorch itself gives to record_function ranges.
PhaseKind KindOfOperator(std::string_view name) {
  if (name.starts_with("enumerate(DataLoader)#")) return PhaseKind::kDataLoading;
  if (name.starts_with("Optimizer.step#")) return PhaseKind::kOptimizer;
  if (name.starts_with("Optimizer.zero_grad#")) return PhaseKind::kZeroGrad;
  if (name.starts_with("autograd::engine::evaluate_function")) return PhaseKind::kBackward;
  if (name.starts_with("nccl:") || name.starts_with("gloo:") || name.starts_with("c10d::")) {
    return PhaseKind::kCommunication;
  }
  return PhaseKind::kOther;
}

// The kind of each name, worked out when first asked.
class KindOfNames {
 public:
  KindOfNames(const Store& store, PhaseKind (*classify)(std::string_view))
      : store_(store), classify_(classify), known_(store.strings.size(), kUnknown) {}

  PhaseKind operator[](StringId name) {
    if (name.IsNone()) return PhaseKind::kOther;
    uint8_t& kind = known_[name.row()];
    if (kind == kUnknown) kind = static_cast<uint8_t>(classify_(store_.Text(name)));
    return static_cast<PhaseKind>(kind);
  }

 private:
  static constexpr uint8_t kUnknown = 255;
  const Store& store_;
  PhaseKind (*classify_)(std::string_view);
  std::vector<uint8_t> known_;
};

bool Before(const PhaseMark& a, const PhaseMark& b) {
  if (a.thread != b.thread) return a.thread < b.thread;
  if (a.start_ns != b.start_ns) return a.start_ns < b.start_ns;
  if (a.end_ns != b.end_ns) return a.end_ns > b.end_ns;
  return a.implied && !b.implied;
}

}  // namespace

PhaseMarks::PhaseMarks(const Store& store) {
  AddPhaseCalls(store);
  StretchSaves(store, marks_);
  AddRanges(store);
  AddOperators(store);
  AddModules(store);
  Order();
  Insert(GuessPhases(store, marks_, spans_));
  Insert(FindGradientWaits(store, marks_, spans_));
  Insert(FindEvaluations(store, marks_, spans_));
}

void PhaseMarks::Insert(const std::vector<PhaseMark>& more) {
  if (more.empty()) return;
  marks_.insert(marks_.end(), more.begin(), more.end());
  Order();
}

// Each table gives its marks in order: what is left is to merge a few runs.
void PhaseMarks::Order() {
  MergeRuns(marks_, Before);
  std::vector<ThreadId> threads;
  threads.reserve(marks_.size());
  for (const PhaseMark& mark : marks_) threads.push_back(mark.thread);
  spans_ = ThreadSpans(threads);
}

void PhaseMarks::AddPhaseCalls(const Store& store) {
  const PhaseCallsTable& calls = store.phase_calls;
  for (size_t row = 0; row < calls.size(); ++row) {
    const PhaseKind kind = PhaseKindOfCall(calls.phase[row]);
    if (kind == PhaseKind::kOther) continue;
    marks_.push_back({.start_ns = calls.start_ns[row],
                      .end_ns = ClosedEnd(store, calls.start_ns[row], calls.end_ns[row]),
                      .thread = calls.thread[row],
                      .name = calls.name[row],
                      .kind = kind,
                      .loader_start = calls.phase[row] == Phase::kDataLoaderInit});
  }
}

void PhaseMarks::AddRanges(const Store& store) {
  const NvtxRangesTable& ranges = store.nvtx_ranges;
  KindOfNames kinds(store, PhaseOfRangeName);
  for (size_t row = 0; row < ranges.size(); ++row) {
    if (ranges.end_thread[row] != ranges.thread[row] && !ranges.end_thread[row].IsNone()) continue;
    const PhaseKind kind = kinds[ranges.message[row]];
    if (kind == PhaseKind::kOther) continue;
    marks_.push_back({.start_ns = ranges.start_ns[row],
                      .end_ns = ClosedEnd(store, ranges.start_ns[row], ranges.end_ns[row]),
                      .thread = ranges.thread[row],
                      .name = ranges.message[row],
                      .kind = kind});
  }
}

void PhaseMarks::AddOperators(const Store& store) {
  std::vector<bool> has_backward(store.processes.size() + 1);
  auto slot = [&](ThreadId thread) {
    const ProcessId process = store.ProcessOf(thread);
    return process.IsNone() ? store.processes.size() : process.row();
  };
  for (const PhaseMark& mark : marks_) {
    if (mark.kind == PhaseKind::kBackward) has_backward[slot(mark.thread)] = true;
  }
  const OperatorCallsTable& calls = store.operator_calls;
  KindOfNames kinds(store, KindOfOperator);
  for (size_t row = 0; row < calls.size(); ++row) {
    const PhaseKind kind = kinds[calls.name[row]];
    if (kind == PhaseKind::kOther) continue;
    // Thousands a step, and needed only where nothing shows the backward as a whole.
    if (kind == PhaseKind::kBackward && has_backward[slot(calls.thread[row])]) continue;
    marks_.push_back({.start_ns = calls.start_ns[row],
                      .end_ns = ClosedEnd(store, calls.start_ns[row], calls.end_ns[row]),
                      .thread = calls.thread[row],
                      .name = calls.name[row],
                      .kind = kind});
  }
}

void PhaseMarks::AddModules(const Store& store) {
  const ModuleCallsTable& calls = store.module_calls;
  for (size_t row = 0; row < calls.size(); ++row) {
    if (!calls.parent[row].IsNone()) continue;
    const bool loss = store.Text(calls.class_name[row]).ends_with("Loss");
    marks_.push_back({.start_ns = calls.start_ns[row],
                      .end_ns = ClosedEnd(store, calls.start_ns[row], calls.end_ns[row]),
                      .thread = calls.thread[row],
                      .name = calls.path[row],
                      .kind = loss ? PhaseKind::kLoss : PhaseKind::kForward,
                      .implied = true});
  }
}

std::vector<PhaseMark> PhaseMarks::Outermost(ThreadId thread, PhaseKind kind) const {
  std::vector<PhaseMark> found;
  const ThreadSpans::Rows rows = spans_.Of(thread);
  for (uint32_t row = rows.begin; row < rows.end; ++row) {
    const PhaseMark& mark = marks_[row];
    if (mark.kind != kind || mark.implied || mark.loader_start) continue;
    if (!found.empty() && mark.start_ns < found.back().end_ns) continue;
    found.push_back(mark);
  }
  return found;
}

bool HasFusedUpdates(const Store& store, ThreadId thread) {
  const OperatorCallsTable& calls = store.operator_calls;
  std::map<StringId, bool> names;
  for (size_t row = 0; row < calls.size(); ++row) {
    if (calls.thread[row] != thread) continue;
    const auto [name, is_new] = names.try_emplace(calls.name[row]);
    if (is_new) {
      const std::string_view text = store.Text(name->first);
      name->second = text.starts_with("aten::_fused_") && text.ends_with('_');
    }
    if (name->second) return true;
  }
  return false;
}

}  // namespace batchlight
