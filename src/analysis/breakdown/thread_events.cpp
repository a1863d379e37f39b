#include "analysis/breakdown/thread_events.h"

#include <algorithm>

#include "analysis/numbers/closed_end.h"
#include "analysis/steps/step_lookup.h"

namespace batchlight {
namespace {

bool IsDeep(EventKind kind) { return kind == EventKind::kOsCall || kind == EventKind::kMpiCall; }

}  // namespace

CallSpans::CallSpans(const Store& store)
    : ranges(store.nvtx_ranges.thread),
      phases(store.phase_calls.thread),
      modules(store.module_calls.thread),
      operators(store.operator_calls.thread),
      cuda(store.api_calls.thread),
      os(store.os_calls.thread),
      mpi(store.mpi_events.thread) {}

ThreadEvents::ThreadEvents(const Store& store, const CallSpans& spans, ThreadId thread,
                           const ProcessSteps& steps, Take take)
    : store_(store), steps_(steps), take_(std::move(take)) {
  const auto add = [&](EventKind kind, const auto& table, const ThreadSpans& rows) {
    AddSource(kind, table.start_ns, table.end_ns, rows.Of(thread));
  };
  if (thread.IsNone()) return;
  // Of calls that start together the outer one comes first.
  add(EventKind::kRange, store.nvtx_ranges, spans.ranges);
  add(EventKind::kPhaseCall, store.phase_calls, spans.phases);
  add(EventKind::kModule, store.module_calls, spans.modules);
  add(EventKind::kOperator, store.operator_calls, spans.operators);
  add(EventKind::kMpiCall, store.mpi_events, spans.mpi);
  add(EventKind::kCudaCall, store.api_calls, spans.cuda);
  add(EventKind::kOsCall, store.os_calls, spans.os);
  FindNext();
}

void ThreadEvents::AddSource(EventKind kind, const std::vector<int64_t>& start_ns,
                             const std::vector<int64_t>& end_ns, ThreadSpans::Rows rows) {
  if (rows.empty()) return;
  sources_[source_count_++] = {kind, start_ns.data(), end_ns.data(), rows.begin, rows.end};
}

void ThreadEvents::FindNext() {
  next_ns_ = INT64_MAX;
  for (size_t i = 0; i < source_count_; ++i) {
    const Source& source = sources_[i];
    if (source.row == source.end || source.start_ns[source.row] >= next_ns_) continue;
    next_ = i;
    next_ns_ = source.start_ns[source.row];
  }
}

void ThreadEvents::Give(const AskedStretch& asked, EventKind least,
                        std::vector<AskedStretch>* rest) {
  for (int64_t at = asked.start_ns; at < asked.end_ns;) {
    EnterUntil(at);
    int64_t until = std::min(asked.end_ns, next_ns_);
    if (!open_.empty()) until = std::min(until, open_.back().end_ns);
    const EventRef deepest = rest == nullptr ? EventRef{} : Deepest(at);
    if (rest != nullptr && deepest.kind < least) {
      rest->push_back(asked);
      rest->back().start_ns = at;
      rest->back().end_ns = until;
      if (deepest.kind != EventKind::kNone) rest->back().around = deepest;
    } else if (open_.empty()) {
      if (nothing_until_ns_ != at) Close(nothing_);
      Add(nothing_, asked, at, until - at);
      nothing_until_ns_ = until;
    } else {
      Add(open_.back().occurrence, asked, at, until - at);
    }
    at = until;
  }
}

void ThreadEvents::Finish() {
  Leave(INT64_MAX);
  Close(nothing_);
}

void ThreadEvents::EnterUntil(int64_t time_ns) {
  while (next_ns_ <= time_ns) {
    Source& source = sources_[next_];
    const uint32_t row = source.row++;
    Leave(next_ns_);
    Enter(source.kind, row, next_ns_, source.end_ns[row]);
    FindNext();
  }
  Leave(time_ns);
}

void ThreadEvents::Enter(EventKind kind, uint32_t row, int64_t start_ns, int64_t end_ns) {
  if (SaysNothing(kind, row)) return;
  if (end_ns == kOpenEnd) end_ns = ClosedEnd(store_, start_ns, end_ns);
  if (HoldsStep(start_ns, end_ns)) return;
  if (kind == EventKind::kRange && FoundStep(start_ns, end_ns)) return;
  Frame frame{.end_ns = end_ns, .occurrence = {.event = {kind, row}, .start_ns = start_ns}};
  if (kind == EventKind::kCudaCall) {
    const EventRef around = Deepest(start_ns);
    if (around.kind == EventKind::kOperator) frame.occurrence.op = around.row;
  }
  open_.push_back(frame);
}

bool ThreadEvents::SaysNothing(EventKind kind, uint32_t row) const {
  if (kind == EventKind::kRange) {
    const NvtxRangesTable& ranges = store_.nvtx_ranges;
    return ranges.end_thread[row] != ranges.thread[row] && !ranges.end_thread[row].IsNone();
  }
  // A module's call of the same time is an event of its own.
  if (kind == EventKind::kPhaseCall && store_.phase_calls.phase[row] == Phase::kEvaluationCall) {
    return true;
  }
  if (open_.empty()) return false;
  const auto [around, outer] = open_.back().occurrence.event;
  if (kind == EventKind::kOperator && around == EventKind::kPhaseCall) {
    return store_.operator_calls.name[row] == store_.phase_calls.name[outer];
  }
  if (kind == EventKind::kCudaCall) return around == EventKind::kCudaCall;
  return IsDeep(kind) && around >= EventKind::kOperator;
}

// Asked in order of start.
bool ThreadEvents::HoldsStep(int64_t start_ns, int64_t end_ns) {
  const std::vector<Step>& steps = steps_.steps;
  while (step_ < steps.size() && steps[step_].start_ns < start_ns) ++step_;
  return step_ < steps.size() && steps[step_].end_ns <= end_ns;
}

bool ThreadEvents::FoundStep(int64_t start_ns, int64_t end_ns) const {
  const size_t row = StepLookup::Around(steps_.steps, start_ns);
  return row != StepLookup::kNone && IsRangeOfStep(steps_, steps_.steps[row], start_ns, end_ns);
}

// Calls of different kinds need not nest: one that ended below another leaves when that has left.
void ThreadEvents::Leave(int64_t time_ns) {
  while (!open_.empty() && open_.back().end_ns <= time_ns) {
    Close(open_.back().occurrence);
    open_.pop_back();
  }
}

EventRef ThreadEvents::Deepest(int64_t time_ns) const {
  for (size_t i = open_.size(); i-- > 0;) {
    const EventRef event = open_[i].occurrence.event;
    if (open_[i].end_ns > time_ns && !IsDeep(event.kind)) return event;
  }
  return {};
}

void ThreadEvents::Add(Occurrence& open, const AskedStretch& asked, int64_t from_ns, int64_t ns) {
  const bool same = open.ns > 0 && open.asked.phase == asked.phase && open.asked.step == asked.step;
  if (!same) {
    Close(open);
    open.asked = asked;
    if (open.event.kind == EventKind::kNone) open.start_ns = from_ns;
  }
  open.ns += ns;
}

void ThreadEvents::Close(Occurrence& open) {
  if (open.ns > 0) take_(open);
  open.ns = 0;
}

}  // namespace batchlight
