#include <algorithm>
#include <unordered_map>

#include "analysis/breakdown/phase_events_parts.h"
#include "analysis/breakdown/phase_stretches.h"

namespace batchlight {
namespace {

// Which row of a breakdown a stretch is part of.
class PhaseRows {
 public:
  PhaseRows(const Store& store, const StepBreakdown& breakdown) : store_(store) {
    for (uint32_t row = 0; row < breakdown.phases.size(); ++row) {
      const PhaseShare& phase = breakdown.phases[row];
      if (phase.kind == PhaseKind::kUserRange) {
        user_.emplace(phase.name, row);
      } else {
        of_kind_[size_t(phase.kind)] = row;
      }
    }
  }

  uint32_t Of(const PhaseStretch& stretch) {
    if (stretch.kind != PhaseKind::kUserRange) return of_kind_[size_t(stretch.kind)];
    const auto [known, added] = of_message_.try_emplace(stretch.range, 0);
    if (added) {
      const auto row = user_.find(NameWithoutNumbers(store_.Text(stretch.range)));
      known->second = row == user_.end() ? of_kind_[size_t(PhaseKind::kOther)] : row->second;
    }
    return known->second;
  }

 private:
  const Store& store_;
  std::array<uint32_t, size_t(PhaseKind::kOther) + 1> of_kind_{};
  std::unordered_map<std::string, uint32_t> user_;
  std::unordered_map<StringId, uint32_t> of_message_;
};

// What no thread's calls explain belongs to what is around it: backward() itself, or nothing.
void AddUnexplained(const std::vector<AskedStretch>& rest, EventGroups& groups) {
  Occurrence open;
  const auto close = [&] {
    if (open.ns > 0) groups.Add(open);
  };
  for (const AskedStretch& asked : rest) {
    const bool same = open.ns > 0 && open.event.kind == asked.around.kind &&
                      open.event.row == asked.around.row && open.asked.phase == asked.phase &&
                      open.asked.step == asked.step;
    if (!same) {
      close();
      open = {.event = asked.around, .start_ns = asked.start_ns, .asked = asked};
    }
    open.ns += asked.end_ns - asked.start_ns;
  }
  close();
}

}  // namespace

void AddCpuEvents(const StepInputs& inputs, const CallSpans& spans, const ProcessSteps& steps,
                  const StepBreakdown& breakdown, const std::vector<ThreadId>& working_threads,
                  EventGroups& groups) {
  const Store& store = inputs.store;
  const ThreadEvents::Take take = [&](const Occurrence& found) { groups.Add(found); };
  PhaseRows rows(store, breakdown);
  std::vector<AskedStretch> rest;
  ThreadEvents own(store, spans, steps.thread, steps, take);
  VisitPhaseStretches(inputs, steps, [&](const PhaseStretch& stretch) {
    const AskedStretch asked{stretch.start_ns, stretch.end_ns, rows.Of(stretch), stretch.step};
    const bool backward = stretch.kind == PhaseKind::kBackward;
    own.Give(asked, EventKind::kOperator, backward ? &rest : nullptr);
  });
  own.Finish();
  for (const ThreadId thread : working_threads) {
    if (thread == steps.thread || rest.empty()) continue;
    std::vector<AskedStretch> left;
    ThreadEvents other(store, spans, thread, steps, take);
    for (const AskedStretch& asked : rest) other.Give(asked, EventKind::kRange, &left);
    other.Finish();
    rest = std::move(left);
  }
  AddUnexplained(rest, groups);
}

}  // namespace batchlight
