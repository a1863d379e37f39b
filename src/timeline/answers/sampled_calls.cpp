#include "timeline/answers/sampled_calls.h"

#include <algorithm>
#include <map>

#include "analysis/steps/step_lookup.h"

namespace batchlight::timeline {
namespace {

constexpr int64_t kUsNs = 1000;
constexpr std::string_view kModule = "<module>";  // runs once

// Looks one after the other that found the same.
struct Looks {
  int64_t first_ns = 0;
  int64_t apart_ns = 0;
  uint32_t count = 1;
  int64_t from_ns = 0;  // the time that they stand for
  int64_t to_ns = 0;

  int64_t OneNs() const { return (to_ns - from_ns) / std::max<int64_t>(1, count); }
};

// Callers come before what they call.
template <typename Stacks>
std::vector<uint32_t> DepthsOf(const Stacks& stacks) {
  std::vector<uint32_t> depths(stacks.size());
  for (size_t row = 0; row < depths.size(); ++row) {
    const auto parent = stacks.parent[row];
    const bool known = !parent.IsNone() && parent.row() < row;
    depths[row] = (known ? depths[parent.row()] : 0) + (stacks.frame[row].IsNone() ? 0 : 1);
  }
  return depths;
}

// The frame that has so many callers on the stack; None: it is not that deep.
template <typename Stacks, typename StackId>
auto FrameAt(const Stacks& stacks, const std::vector<uint32_t>& depths, StackId stack,
             uint32_t callers) {
  while (!stack.IsNone() && depths[stack.row()] > callers + 1) stack = stacks.parent[stack.row()];
  while (!stack.IsNone() && stacks.frame[stack.row()].IsNone()) stack = stacks.parent[stack.row()];
  const bool deep = !stack.IsNone() && depths[stack.row()] == callers + 1;
  return deep ? stacks.frame[stack.row()] : decltype(stacks.frame[0]){};
}

// The rows of a thread, among all by thread.
std::pair<size_t, size_t> RowsOf(const std::vector<ThreadId>& threads, ThreadId thread) {
  const auto [begin, end] = std::equal_range(threads.begin(), threads.end(), thread);
  return {static_cast<size_t>(begin - threads.begin()), static_cast<size_t>(end - threads.begin())};
}

size_t FirstFrom(const std::vector<int64_t>& start_ns, size_t begin, size_t end, int64_t time_ns) {
  const auto at = [&](size_t row) { return start_ns.begin() + static_cast<ptrdiff_t>(row); };
  return static_cast<size_t>(std::lower_bound(at(begin), at(end), time_ns) - start_ns.begin());
}

// Rounded so that the parts add up to the whole, and what did not happen stays nothing.
LookTimes InUs(const LookTimes& times) {
  int64_t ns = 0, told_ns = 0;
  const auto part = [&](int64_t part_ns) {
    ns += part_ns;
    const int64_t us_ns = part_ns == 0 ? 0 : ns / kUsNs * kUsNs - told_ns;
    told_ns += us_ns;
    return us_ns;
  };
  return {.ran_ns = part(times.ran_ns),
          .ready_ns = part(times.ready_ns),
          .gil_ns = part(times.gil_ns),
          .waited_ns = part(times.waited_ns)};
}

// What the looks at a call add up to.
class Sums {
 public:
  Sums(const ProcessSteps* steps, int64_t from_ns, int64_t to_ns)
      : steps_(steps), lookup_(steps), from_ns_(from_ns), to_ns_(to_ns) {}

  int64_t InsideNs(const Looks& looks) const {
    return std::max<int64_t>(0, std::min(to_ns_, looks.to_ns) - std::max(from_ns_, looks.from_ns));
  }
  void Did(const LookTimes& times) { call_.times += times; }
  void Take(const Looks& looks, uint32_t line) {
    call_.looks += looks.count;
    all_ns_ += looks.to_ns - looks.from_ns;
    CountSteps(looks);
    // Of that what lies in the call: it begins and ends between two looks.
    const int64_t inside_ns = InsideNs(looks);
    by_line_[line] += inside_ns;
    inside_ns_ += inside_ns;
  }
  void HoldsLoop() { holds_loop_ = true; }

  SampledCall Take() {
    if (call_.looks == 0) return call_;
    call_.times = InUs(call_.times);
    call_.apart_ns = all_ns_ / int64_t(call_.looks) / kUsNs * kUsNs;
    constexpr int64_t kSteps = 2;  // one before the first that is known, one after the last
    const int64_t step_ns = steps_ == nullptr ? 0 : steps_->duration.median;
    if (outside_ns_ > kSteps * std::max(step_ns, call_.apart_ns)) HoldsLoop();
    if (holds_loop_) call_.steps = 0;
    const auto most = std::max_element(
        by_line_.begin(), by_line_.end(),
        [](const auto& one, const auto& other) { return one.second < other.second; });
    if (most->first == 0) return call_;
    call_.line = most->first;
    // What lies after the last look is as what lies before.
    const double share = double(most->second) / double(std::max<int64_t>(1, inside_ns_));
    call_.line_ns = int64_t(share * double(to_ns_ - from_ns_)) / kUsNs * kUsNs;
    return call_;
  }

 private:
  void CountSteps(const Looks& looks) {
    if (steps_ == nullptr) return;
    const int64_t apart_ns = std::max<int64_t>(1, looks.apart_ns);
    for (int64_t look = 0; look < int64_t{looks.count};) {
      const int64_t at_ns = looks.first_ns + look * looks.apart_ns;
      const size_t row = lookup_.RowAt(at_ns);
      // The first look after this step, or in the next one.
      const int64_t left_ns = EndOfPart(row, at_ns) - looks.first_ns;
      const int64_t next = std::clamp((left_ns + apart_ns - 1) / apart_ns, look + 1,
                                      std::max(look + 1, int64_t{looks.count}));
      if (row == StepLookup::kNone) outside_ns_ += (next - look) * looks.OneNs();
      if (row != StepLookup::kNone && row != last_step_) ++call_.steps;
      if (row != StepLookup::kNone) last_step_ = row;
      look = next;
    }
  }
  // Of a step, or of what lies before the next one.
  int64_t EndOfPart(size_t step, int64_t at_ns) const {
    if (step != StepLookup::kNone) return steps_->steps[step].end_ns;
    const size_t next = StepLookup::FirstUnfinished(steps_->steps, at_ns);
    return next < steps_->steps.size() ? steps_->steps[next].start_ns : INT64_MAX / 2;
  }

  const ProcessSteps* steps_;
  StepLookup lookup_;
  const int64_t from_ns_;
  const int64_t to_ns_;
  SampledCall call_;
  int64_t all_ns_ = 0;
  int64_t inside_ns_ = 0;  // of that, in the call
  std::map<uint32_t, int64_t> by_line_;
  size_t last_step_ = StepLookup::kNone;
  int64_t outside_ns_ = 0;  // looks outside of all steps stand for
  bool holds_loop_ = false;
};

struct Wanted {
  ThreadId thread;
  uint32_t callers;
  int64_t from_ns;
  int64_t to_ns;
};

void TakePython(const Store& store, const std::vector<uint32_t>& depths, const Wanted& wanted,
                Sums& sums) {
  const PythonSamplesTable& samples = store.python_samples;
  const auto [begin, end] = RowsOf(samples.thread, wanted.thread);
  // The first record that ends after the call's begin.
  size_t row = FirstFrom(samples.start_ns, begin, end, wanted.from_ns);
  while (row > begin && samples.end_ns[row - 1] > wanted.from_ns) --row;
  for (; row < end && samples.start_ns[row] < wanted.to_ns; ++row) {
    // The looks of a record are at its end and before it.
    const int64_t start_ns = samples.start_ns[row], end_ns = samples.end_ns[row];
    // A look tells of the time before it, whichever function it finds.
    sums.Did(TimesOfLooks(samples, row, sums.InsideNs({.from_ns = start_ns, .to_ns = end_ns})));
    const uint32_t count = std::max(1u, samples.samples[row]);
    const int64_t apart_ns = (end_ns - start_ns) / count;
    if (start_ns + apart_ns > wanted.to_ns) continue;
    const PythonFrameId frame =
        FrameAt(store.python_stacks, depths, samples.python_stack[row], wanted.callers);
    if (frame.IsNone()) continue;
    const Looks looks{start_ns + apart_ns, apart_ns, samples.samples[row], start_ns, end_ns};
    sums.Take(looks, store.python_frames.line[frame.row()]);
    if (store.Text(store.python_frames.function[frame.row()]) == kModule) sums.HoldsLoop();
  }
}

// Each sample stands for the processor time before it.
void TakeNative(const Store& store, const std::vector<uint32_t>& depths, const Wanted& wanted,
                Sums& sums) {
  const CpuSamplesTable& samples = store.cpu_samples;
  const auto [begin, end] = RowsOf(samples.thread, wanted.thread);
  for (size_t row = FirstFrom(samples.start_ns, begin, end, wanted.from_ns + 1);
       row < end && samples.start_ns[row] <= wanted.to_ns; ++row) {
    const auto frame =
        FrameAt(store.native_stacks, depths, samples.native_stack[row], wanted.callers);
    if (frame.IsNone()) continue;
    const int64_t at_ns = samples.start_ns[row];
    sums.Take({at_ns, 0, 1, at_ns - samples.cpu_ns[row], at_ns}, 0);
  }
}

}  // namespace

SampledCalls::SampledCalls(const Timeline& timeline)
    : timeline_(timeline),
      python_depth_(DepthsOf(timeline.store().python_stacks)),
      native_depth_(DepthsOf(timeline.store().native_stacks)),
      know_ready_(KnowsReady(timeline.store().python_samples)) {}

SampledCall SampledCalls::Of(const EventPlace& place, uint32_t ref) const {
  const Events& events = timeline_.events();
  return In(place, ref, events.Start(ref), events.End(ref));
}

SampledCall SampledCalls::In(const EventPlace& place, uint32_t ref, int64_t from_ns,
                             int64_t to_ns) const {
  const Track& track = timeline_.tracks()[place.track];
  const Events& events = timeline_.events();
  from_ns = std::max(from_ns, events.Start(ref));
  to_ns = std::min(to_ns, events.End(ref));
  if (from_ns >= to_ns) return {};
  const ProcessSteps* steps =
      track.group < 0
          ? nullptr
          : timeline_.steps().Of(timeline_.groups()[static_cast<size_t>(track.group)].process);
  const Wanted wanted{track.thread, place.row, from_ns, to_ns};
  Sums sums(steps, wanted.from_ns, wanted.to_ns);
  if (track.kind == TrackKind::kPython) TakePython(timeline_.store(), python_depth_, wanted, sums);
  if (track.kind == TrackKind::kNative) TakeNative(timeline_.store(), native_depth_, wanted, sums);
  return sums.Take();
}

}  // namespace batchlight::timeline
