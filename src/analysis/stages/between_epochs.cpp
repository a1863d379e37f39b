#include "analysis/stages/between_epochs.h"

#include <algorithm>
#include <cmath>

#include "analysis/numbers/quantile.h"
#include "analysis/steps/step_inputs.h"
#include "analysis/steps/step_lookup.h"

namespace batchlight {
namespace {

// A lead that is no part of an iteration is as long as an iteration, or, where a DataLoader begins,
// a tenth of one; and it comes before few iterations.
constexpr double kLeastLead = 1.0;
constexpr double kLeastLeadOfEpoch = 0.1;
// Where the usual lead is most of the iteration (a replay buffer, the user's own Python), a slow
// one is twice as long on a busy machine.
constexpr double kLeastOfUsual = 3;
constexpr size_t kFewestPerLead = 4;      // at most every fourth
constexpr size_t kFewestPerBareLead = 8;  // where no DataLoader begins

// Ordered by start, outermost.
std::vector<TimeSpan> CallsOf(const StepInputs& inputs, ThreadId thread, Phase phase) {
  const PhaseCallsTable& phases = inputs.store.phase_calls;
  const ThreadSpans::Rows rows = inputs.phase_rows.Of(thread);
  std::vector<TimeSpan> calls;
  for (uint32_t row = rows.begin; row < rows.end; ++row) {
    if (phases.phase[row] != phase) continue;
    AddSpan(calls, phases.start_ns[row], phases.end_ns[row]);
  }
  return calls;
}

// How long the thread could run and had no processor, by looks at the process; between two of them
// it waited evenly. Nothing is known of other threads than the first.
class ProcessorWaits {
 public:
  ProcessorWaits(const Store& store, ThreadId thread) {
    const ProcessId process = store.ProcessOf(thread);
    if (process.IsNone()) return;
    if (int64_t(store.threads.tid[thread.row()]) != int64_t(store.processes.pid[process.row()])) {
      return;
    }
    const ProcessUsageTable& looks = store.process_usage;
    for (size_t row = 0; row < looks.size(); ++row) {
      if (looks.process[row] != process) continue;
      at_ns_.push_back(looks.start_ns[row]);
      waited_ns_.push_back(double(looks.first_waited_ns[row]));
    }
  }

  double In(TimeSpan span) const {
    return std::clamp(Until(span.end_ns) - Until(span.start_ns), 0.0,
                      double(span.end_ns - span.start_ns));
  }

 private:
  double Until(int64_t time_ns) const {
    if (at_ns_.empty()) return 0;
    const auto after = std::upper_bound(at_ns_.begin(), at_ns_.end(), time_ns);
    if (after == at_ns_.begin()) return waited_ns_.front();
    if (after == at_ns_.end()) return waited_ns_.back();
    const auto i = static_cast<size_t>(after - at_ns_.begin());
    const double part = double(time_ns - at_ns_[i - 1]) / double(at_ns_[i] - at_ns_[i - 1]);
    return waited_ns_[i - 1] + part * (waited_ns_[i] - waited_ns_[i - 1]);
  }

  std::vector<int64_t> at_ns_;
  std::vector<double> waited_ns_;
};

struct Lead {
  TimeSpan span;
  bool epoch = false;  // ends where a DataLoader begins
};

// Whether the mark is work of an iteration.
bool Works(const PhaseMark& mark) {
  return IsOfModel(mark.kind) || IsOfOptimizer(mark.kind) || mark.kind == PhaseKind::kDataLoading ||
         mark.kind == PhaseKind::kCopyToDevice || mark.kind == PhaseKind::kCompile;
}

std::vector<Lead> LeadsOf(const StepInputs& inputs, const ProcessSteps& steps,
                          const std::vector<TimeSpan>& not_training) {
  std::vector<Lead> leads;
  const ThreadSpans::Rows rows = inputs.marks.RowsOf(steps.thread);
  uint32_t row = rows.begin;
  size_t apart = 0;
  for (const Step& step : steps.steps) {
    Lead lead{{step.start_ns, step.end_ns}};
    for (; row < rows.end && inputs.marks.all()[row].start_ns < step.end_ns; ++row) {
      const PhaseMark& mark = inputs.marks.all()[row];
      if (mark.start_ns < step.start_ns || !Works(mark)) continue;
      while (apart < not_training.size() && not_training[apart].end_ns < mark.start_ns) ++apart;
      // The phase of such a call begins just inside of it.
      if (apart < not_training.size() && not_training[apart].start_ns < mark.end_ns) continue;
      lead.span.end_ns = mark.start_ns;
      lead.epoch = mark.loader_start;
      break;
    }
    if (lead.span.end_ns == step.end_ns) lead.span.end_ns = step.start_ns;  // nothing is known
    leads.push_back(lead);
  }
  return leads;
}

}  // namespace

std::vector<TimeSpan> FindBetweenEpochs(const StepInputs& inputs, const ProcessSteps& steps,
                                        const std::vector<TimeSpan>& waits, bool has_epochs) {
  std::vector<TimeSpan> found, bare;
  if (steps.thread.IsNone() || steps.steps.size() < 4) return found;
  const std::vector<TimeSpan> not_training = CallsOf(inputs, steps.thread, Phase::kEvaluationCall);
  // Collections come when they come, also in the middle of what an iteration begins with.
  const std::vector<TimeSpan> no_work =
      UniteSpans(CallsOf(inputs, steps.thread, Phase::kGarbageCollection), waits);
  const ThreadSpans::Rows rows = inputs.marks.RowsOf(steps.thread);
  std::vector<TimeSpan> evaluations;
  for (uint32_t row = rows.begin; row < rows.end; ++row) {
    const PhaseMark& mark = inputs.marks.all()[row];
    if (IsEvaluation(mark.kind)) AddSpan(evaluations, mark.start_ns, mark.end_ns);
  }
  const std::vector<TimeSpan> apart = UniteSpans(not_training, evaluations);
  const std::vector<Lead> leads = LeadsOf(inputs, steps, apart);
  const ProcessorWaits processor(inputs.store, steps.thread);
  const auto free_of = [](const std::vector<TimeSpan>& others, TimeSpan span) {
    return span.end_ns - span.start_ns - NsInside(others, span.start_ns, span.end_ns);
  };
  std::vector<int64_t> lengths, durations, ran, steps_ran;
  for (size_t i = 1; i < leads.size(); ++i) {
    const TimeSpan span = leads[i].span;
    lengths.push_back(free_of(no_work, span));
    ran.push_back(lengths.back() - std::llround(processor.In(span)));
    durations.push_back(steps.steps[i].duration_ns());
    const TimeSpan step{steps.steps[i].start_ns, steps.steps[i].end_ns};
    steps_ran.push_back(durations.back() - std::llround(processor.In(step)));
  }
  const double usual_ns = double(LowerQuantile(lengths, 0.5));
  const double usually_ran_ns = double(LowerQuantile(ran, 0.5));
  const double step_ran_ns = double(LowerQuantile(steps_ran, 0.5));
  const double step_ns = double(LowerQuantile(durations, 0.5));
  for (size_t i = 1; i < leads.size(); ++i) {
    const TimeSpan span = leads[i].span;
    const auto free_ns =
        double(free_of(no_work, span) - NsInside(evaluations, span.start_ns, span.end_ns));
    const double least = (leads[i].epoch ? kLeastLeadOfEpoch : kLeastLead) * step_ns;
    const bool stands_out = leads[i].epoch || free_ns > kLeastOfUsual * usual_ns;
    if (!stands_out || free_ns - usual_ns <= least) continue;
    // What waits longer for a processor does no more than others do.
    const double ran_ns = free_ns - processor.In(span);
    const bool does_more = ran_ns > kLeastOfUsual * usually_ran_ns &&
                           ran_ns - usually_ran_ns > kLeastLead * step_ran_ns;
    if (!leads[i].epoch && (has_epochs || !does_more)) continue;
    AddSpan(leads[i].epoch ? found : bare, span.start_ns, span.end_ns);
  }
  if (bare.size() * kFewestPerBareLead > leads.size()) bare.clear();
  found = UniteSpans(found, bare);
  if (found.size() * kFewestPerLead > leads.size()) found.clear();
  return found;
}

}  // namespace batchlight
