#include "analysis/memory/memory_category.h"

namespace batchlight {
namespace {

uint64_t KeyOf(ProcessId process, uint32_t correlation) {
  return uint64_t{process.value} << 32 | correlation;
}

std::vector<ThreadId> Threads(const std::vector<PhaseMark>& marks) {
  std::vector<ThreadId> threads;
  for (const PhaseMark& mark : marks) threads.push_back(mark.thread);
  return threads;
}

std::vector<int64_t> Times(const std::vector<PhaseMark>& marks, int64_t PhaseMark::*time) {
  std::vector<int64_t> times;
  for (const PhaseMark& mark : marks) times.push_back(mark.*time);
  return times;
}

MemoryCategory CategoryOf(PhaseKind phase) {
  switch (phase) {
    case PhaseKind::kOptimizer:
      return MemoryCategory::kOptimizerState;
    case PhaseKind::kBackward:
      return MemoryCategory::kGradients;
    case PhaseKind::kDataLoading:
    case PhaseKind::kCopyToDevice:
      return MemoryCategory::kInput;
    case PhaseKind::kForward:
    case PhaseKind::kLoss:
      return MemoryCategory::kActivations;
    default:
      return MemoryCategory::kOther;
  }
}

}  // namespace

MemoryCategories::MemoryCategories(const Store& store, const StepSet& steps)
    : store_(store),
      steps_(steps),
      marks_(store),
      mark_threads_(Threads(marks_.all())),
      mark_starts_(Times(marks_.all(), &PhaseMark::start_ns)),
      mark_ends_(Times(marks_.all(), &PhaseMark::end_ns)),
      phases_(mark_threads_, mark_starts_, mark_ends_),
      operators_(store.operator_calls.thread, store.operator_calls.start_ns,
                 store.operator_calls.end_ns),
      modules_(store.module_calls.thread, store.module_calls.start_ns, store.module_calls.end_ns) {
  const GpuMemoryEventsTable& events = store.gpu_memory_events;
  for (size_t row = 0; row < events.size(); ++row) {
    if (events.correlation[row] == 0 || events.process[row].IsNone()) continue;
    calls_.emplace(KeyOf(events.process[row], events.correlation[row]), ApiCallId());
  }
  if (calls_.empty()) return;
  const ApiCallsTable& calls = store.api_calls;
  for (size_t row = 0; row < calls.size(); ++row) {
    const auto found =
        calls_.find(KeyOf(store.ProcessOf(calls.thread[row]), calls.correlation[row]));
    if (found != calls_.end()) found->second = ApiCallId::At(row);
  }
}

ThreadId MemoryCategories::ThreadOf(size_t event_row) const {
  const ThreadId thread = store_.gpu_memory_events.thread[event_row];
  if (!thread.IsNone()) return thread;
  const ProcessId process = store_.gpu_memory_events.process[event_row];
  const auto call = calls_.find(KeyOf(process, store_.gpu_memory_events.correlation[event_row]));
  if (call != calls_.end() && !call->second.IsNone()) {
    return store_.api_calls.thread[call->second.row()];
  }
  const ProcessSteps* steps = steps_.Of(process);
  return steps == nullptr ? ThreadId() : steps->thread;
}

PhaseKind MemoryCategories::PhaseAt(ThreadId thread, int64_t time_ns) const {
  const uint32_t own = thread.IsNone() ? kNoRow : phases_.Innermost(thread, time_ns);
  if (own != kNoRow) return marks_.all()[own].kind;
  const ProcessSteps* steps = thread.IsNone() ? nullptr : steps_.Of(store_.ProcessOf(thread));
  if (steps == nullptr || steps->thread.IsNone()) return PhaseKind::kOther;
  const uint32_t other = phases_.Innermost(steps->thread, time_ns);
  const bool backward = other != kNoRow && marks_.all()[other].kind == PhaseKind::kBackward;
  return backward ? PhaseKind::kBackward : PhaseKind::kOther;
}

MemoryCategory MemoryCategories::Of(size_t event_row) const {
  const GpuMemoryEventsTable& events = store_.gpu_memory_events;
  const ProcessSteps* steps = steps_.Of(events.process[event_row]);
  if (steps == nullptr) return MemoryCategory::kOther;
  const int64_t time_ns = events.start_ns[event_row];
  if (time_ns < steps->steps.front().start_ns) return MemoryCategory::kModel;
  return CategoryOf(PhaseAt(ThreadOf(event_row), time_ns));
}

std::string MemoryCategories::PlaceOf(size_t event_row) const {
  const ThreadId thread = ThreadOf(event_row);
  if (thread.IsNone()) return {};
  const int64_t time_ns = store_.gpu_memory_events.start_ns[event_row];
  const uint32_t op = operators_.Innermost(thread, time_ns);
  const uint32_t module = modules_.Innermost(thread, time_ns);
  std::string place;
  if (op != kNoRow) place = store_.Text(store_.operator_calls.name[op]);
  if (module == kNoRow) return place;
  if (!place.empty()) place += " in ";
  return place + std::string(store_.Text(store_.module_calls.path[module]));
}

std::string_view MemoryCategoryName(MemoryCategory category) {
  constexpr std::string_view kNames[] = {"model", "optimizer state", "gradients",
                                         "input", "activations",     "other"};
  return kNames[static_cast<size_t>(category)];
}

std::string_view MemoryCategoryKey(MemoryCategory category) {
  constexpr std::string_view kKeys[] = {"model", "optimizer_state", "gradients",
                                        "input", "activations",     "other"};
  return kKeys[static_cast<size_t>(category)];
}

std::string_view MemoryCategoryRule(MemoryCategory category) {
  constexpr std::string_view kRules[] = {
      "allocated before the first step: parameters, buffers, set-up",
      "allocated in the optimizer",
      "allocated in backward: gradients and temporaries of the backward pass",
      "allocated in data loading or the copy to the device",
      "allocated in forward, loss or a module: kept for backward, or temporary",
      "allocated elsewhere, or by a call that was not recorded"};
  return kRules[static_cast<size_t>(category)];
}

}  // namespace batchlight
