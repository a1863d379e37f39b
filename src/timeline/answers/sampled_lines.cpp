#include "timeline/answers/sampled_lines.h"

#include <algorithm>
#include <map>
#include <vector>

namespace batchlight::timeline {
namespace {

// The frame that has so many callers on the stack; None: it is not that deep.
PythonFrameId FrameAt(const Store& store, PythonStackId stack, uint32_t depth) {
  std::vector<PythonFrameId> frames;  // innermost first
  for (; !stack.IsNone(); stack = store.python_stacks.parent[stack.row()]) {
    const PythonFrameId frame = store.python_stacks.frame[stack.row()];
    if (!frame.IsNone()) frames.push_back(frame);
  }
  return depth < frames.size() ? frames[frames.size() - 1 - depth] : PythonFrameId();
}

// The first record of the thread, among all by thread and start, that ends after the moment.
size_t FirstAfter(const PythonSamplesTable& samples, ThreadId thread, int64_t time_ns) {
  const auto [begin, end] = std::equal_range(samples.thread.begin(), samples.thread.end(), thread);
  const auto first = static_cast<size_t>(begin - samples.thread.begin());
  const auto start_of = [&](auto place) {
    return samples.start_ns.begin() + (place - samples.thread.begin());
  };
  auto row = static_cast<size_t>(std::lower_bound(start_of(begin), start_of(end), time_ns) -
                                 samples.start_ns.begin());
  while (row > first && samples.end_ns[row - 1] > time_ns) --row;
  return row;
}

}  // namespace

SampledCall SamplesOf(const Timeline& timeline, const EventPlace& place, uint32_t ref) {
  const Store& store = timeline.store();
  const PythonSamplesTable& samples = store.python_samples;
  const ThreadId thread = timeline.tracks()[place.track].thread;
  const int64_t from_ns = timeline.events().Start(ref), to_ns = timeline.events().End(ref);
  SampledCall call;
  int64_t all_ns = 0;
  std::map<uint32_t, int64_t> by_line;
  for (size_t row = FirstAfter(samples, thread, from_ns);
       row < samples.size() && samples.thread[row] == thread && samples.start_ns[row] < to_ns;
       ++row) {
    // The looks of a record are at its end and before it.
    const int64_t ns = samples.end_ns[row] - samples.start_ns[row];
    const int64_t apart_ns = ns / std::max(1u, samples.samples[row]);
    if (samples.start_ns[row] + apart_ns > to_ns) continue;
    const PythonFrameId frame = FrameAt(store, samples.python_stack[row], place.row);
    if (frame.IsNone()) continue;
    call.looks += samples.samples[row];
    all_ns += ns;
    // Of that what lies in the call: it begins and ends between two looks.
    const int64_t inside_ns =
        std::min(to_ns, samples.end_ns[row]) - std::max(from_ns, samples.start_ns[row]);
    by_line[store.python_frames.line[frame.row()]] += std::max<int64_t>(0, inside_ns);
  }
  const auto most = std::max_element(
      by_line.begin(), by_line.end(),
      [](const auto& one, const auto& other) { return one.second < other.second; });
  if (most == by_line.end()) return call;
  call.apart_ns = all_ns / int64_t(std::max<uint64_t>(1, call.looks));
  call.line = most->first;
  call.line_ns = most->second;
  return call;
}

}  // namespace batchlight::timeline
