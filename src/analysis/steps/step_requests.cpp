#include "analysis/steps/step_requests.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "analysis/numbers/quantile.h"
#include "analysis/steps/loop_tiler.h"
#include "analysis/steps/update_pattern.h"

namespace batchlight {
namespace {

// Calls that make a whole answer, which calls the model many times (generate).
std::vector<Update> Generations(const StepInputs& inputs, ThreadId thread) {
  std::vector<Update> calls;
  const PhaseCallsTable& phases = inputs.store.phase_calls;
  const ThreadSpans::Rows rows = inputs.phase_rows.Of(thread);
  for (uint32_t row = rows.begin; row < rows.end; ++row) {
    const bool inner = !calls.empty() && phases.start_ns[row] < calls.back().end_ns;
    if (phases.phase[row] != Phase::kRequest || phases.end_ns[row] == kOpenEnd || inner) continue;
    calls.push_back(
        {.start_ns = phases.start_ns[row], .end_ns = phases.end_ns[row], .name = phases.name[row]});
  }
  return calls;
}

std::vector<Update> CallsOfModels(const StepInputs& inputs, ThreadId thread) {
  std::vector<Update> calls = Generations(inputs, thread);
  if (!calls.empty()) return calls;
  const ThreadSpans::Rows rows = inputs.marks.RowsOf(thread);
  int64_t covered_until = INT64_MIN;
  for (uint32_t row = rows.begin; row < rows.end; ++row) {
    const PhaseMark& mark = inputs.marks.all()[row];
    if (mark.kind != PhaseKind::kForward || mark.start_ns < covered_until) continue;
    const uint64_t owner = std::hash<std::string_view>()(inputs.store.Text(mark.name));
    calls.push_back({.start_ns = mark.start_ns,
                     .end_ns = mark.end_ns,
                     .name = mark.name,
                     .owner = owner,
                     .family = owner});
    covered_until = mark.end_ns;
  }
  return calls;
}

// A service may call its model several times for a request (views of a picture, beams, chunks), one
// right after the other. A pause this much longer than is usual lies between two requests.
constexpr int64_t kPauseOfUsual = 3;
constexpr double kRegularPauses = 0.9;  // of the pauses lie as many calls apart
constexpr size_t kLeastBursts = 5;

struct Bursts {
  size_t calls = 1;  // of each
  size_t last = 0;   // the first call that ends one
};

// Whether calls come in bursts of the same number.
Bursts FindBursts(const std::vector<Update>& calls) {
  std::vector<int64_t> pauses;  // behind each call but the last
  for (size_t i = 1; i < calls.size(); ++i) {
    pauses.push_back(std::max<int64_t>(0, calls[i].start_ns - calls[i - 1].end_ns));
  }
  std::vector<int64_t> sorted = pauses;
  const int64_t long_ns = kPauseOfUsual * std::max<int64_t>(1, LowerQuantile(sorted, 0.5));
  std::vector<size_t> ends;
  for (size_t i = 0; i < pauses.size(); ++i) {
    if (pauses[i] > long_ns) ends.push_back(i);
  }
  if (ends.size() < kLeastBursts) return {};
  std::vector<size_t> apart;
  for (size_t i = 1; i < ends.size(); ++i) apart.push_back(ends[i] - ends[i - 1]);
  const size_t usual = LowerQuantile(apart, 0.5);
  const size_t phase = ends[ends.size() / 2] % usual;
  const auto regular = static_cast<size_t>(
      std::count_if(ends.begin(), ends.end(), [&](size_t end) { return end % usual == phase; }));
  const double bursts = double(calls.size()) / double(usual);
  const bool holds = double(regular) >= kRegularPauses * double(ends.size()) &&
                     double(regular) >= kRegularPauses * (bursts - 1);
  return usual > 1 && holds ? Bursts{usual, phase} : Bursts{};
}

// Every burst is an iteration; what is left over at the end belongs to none.
void UniteBursts(const Bursts& bursts, UpdatePattern& pattern) {
  UpdatePattern united;
  bool fresh = false;
  for (size_t i = 0; i < pattern.ends.size(); ++i) {
    fresh = fresh || pattern.fresh[i];
    if (i % bursts.calls != bursts.last) continue;
    united.ends.push_back(i);
    united.fresh.push_back(std::exchange(fresh, false));
  }
  pattern = std::move(united);
}

}  // namespace

FoundStepsOrNone StepsFromRequests(const StepInputs& inputs, ProcessId process) {
  std::vector<Update> calls;
  ThreadId thread;
  for (const ThreadId candidate : inputs.threads_of_process[process.row()]) {
    std::vector<Update> own = CallsOfModels(inputs, candidate);
    if (own.size() <= calls.size()) continue;
    calls = std::move(own);
    thread = candidate;
  }
  if (calls.size() < 2) return {};
  UpdatePattern pattern = FindUpdatePattern(calls);
  Bursts bursts;
  if (pattern.ends.size() == calls.size()) bursts = FindBursts(calls);
  if (bursts.calls > 1) UniteBursts(bursts, pattern);
  FoundSteps found{.source = StepSource::kRequest,
                   .thread = thread,
                   .marker = std::string(inputs.store.Text(calls[pattern.ends.front()].name))};
  LoopTiler(inputs, process, thread).Tile(EndsOf(calls, pattern), &found);
  if (found.steps.empty()) return {};
  const std::string count =
      bursts.calls == 1 ? "one call" : std::to_string(bursts.calls) + " calls";
  found.how = "from the end of " + count + " of " + QuotedName(found.marker) +
              " to the next (nothing is trained: a request is a step)";
  return found;
}

}  // namespace batchlight
