// Which Python functions each thread was in, by samples from outside (store.python_samples).
#include <algorithm>
#include <string_view>
#include <vector>

#include "analysis/lines/source_place.h"
#include "analysis/python/function_counts.h"
#include "timeline/tracks/derived_tracks.h"
#include "timeline/tracks/stack_stretches.h"

namespace batchlight::timeline {
namespace {

// Deeper recursion than this shows its outermost frames.
constexpr size_t kMostDepth = 200;

std::vector<StringId> NamesOfFrames(Timeline& timeline) {
  const Store& store = timeline.store();
  const PythonFramesTable& frames = store.python_frames;
  std::vector<StringId> names;
  names.reserve(frames.size());
  for (size_t row = 0; row < frames.size(); ++row) {
    const std::string_view file = ShortFile(store.Text(frames.file[row]));
    names.push_back(timeline.names().Add(
        PythonLabel(file, frames.first_line[row], store.Text(frames.function[row]))));
  }
  return names;
}

}  // namespace

void AddPythonTracks(Timeline& timeline, std::vector<TrackPlan>& plans) {
  const PythonSamplesTable& samples = timeline.store().python_samples;
  if (samples.size() == 0) return;
  DerivedTable& table = timeline.NewDerivedTable();
  table.nests = true;  // recursion
  const std::vector<StringId> names = NamesOfFrames(timeline);
  StackStretches stretches(table, kMostDepth);
  std::vector<ThreadId> threads;
  for (size_t row = 0; row < samples.size(); ++row) {
    if (threads.empty() || threads.back() != samples.thread[row]) {
      stretches.EndThread();
      threads.push_back(samples.thread[row]);
      table.begins.push_back(static_cast<uint32_t>(table.name.size()));
    }
    const int64_t start_ns = samples.start_ns[row], end_ns = samples.end_ns[row];
    const int64_t apart_ns = (end_ns - start_ns) / std::max(1u, samples.samples[row]);
    // Where a look came late nobody stood for the time before it, but nothing was seen to end.
    const bool goes_on = stretches.is_open() && start_ns - stretches.open_until_ns() <= apart_ns;
    // What changed between two looks did so in the middle, for all that is known. Records of one
    // thread may overlap by what its clock is off.
    const int64_t before_ns = goes_on ? stretches.open_until_ns() : start_ns;
    const int64_t middle_ns = before_ns + (start_ns + apart_ns - before_ns) / 2;
    stretches.Look(timeline.store().python_stacks, samples.python_stack[row], names, goes_on,
                   std::clamp(middle_ns, before_ns, std::max(before_ns, end_ns)), end_ns);
  }
  table.begins.push_back(static_cast<uint32_t>(table.name.size()));
  AddTracksOfThreads(timeline, "python_stretches", "Python function", table, threads,
                     {.kind = TrackKind::kPython, .title = "Python, sampled"}, plans);
}

}  // namespace batchlight::timeline
