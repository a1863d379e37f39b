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

}  // namespace

SampledCall SamplesOf(const Timeline& timeline, const EventPlace& place, uint32_t ref) {
  const Store& store = timeline.store();
  const PythonSamplesTable& samples = store.python_samples;
  const ThreadId thread = timeline.tracks()[place.track].thread;
  const int64_t from_ns = timeline.events().Start(ref), to_ns = timeline.events().End(ref);
  SampledCall call;
  int64_t all_ns = 0;
  std::map<uint32_t, int64_t> by_line;
  for (size_t row = 0; row < samples.size(); ++row) {
    // The looks of a record are at its end and before it.
    if (samples.thread[row] != thread || samples.end_ns[row] <= from_ns) continue;
    const int64_t ns = samples.end_ns[row] - samples.start_ns[row];
    const int64_t apart_ns = ns / std::max(1u, samples.samples[row]);
    if (samples.start_ns[row] + apart_ns > to_ns) continue;
    const PythonFrameId frame = FrameAt(store, samples.python_stack[row], place.row);
    if (frame.IsNone()) continue;
    call.looks += samples.samples[row];
    all_ns += ns;
    by_line[store.python_frames.line[frame.row()]] += ns;
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
