// What each thread had of the processors: by its switches, and by samples of its native stacks.
#include <algorithm>
#include <string>
#include <vector>

#include "analysis/cpu/sample_sums.h"
#include "analysis/cpu/thread_times.h"
#include "timeline/tracks/derived_tracks.h"
#include "timeline/tracks/stack_stretches.h"

namespace batchlight::timeline {
namespace {

// Deeper stacks show their outermost frames.
constexpr size_t kMostNativeDepth = 100;

const char* NameOf(ThreadState state) {
  switch (state) {
    case ThreadState::kRunning:
      return "on a processor";
    case ThreadState::kReady:
      return "waits for a processor";
    case ThreadState::kBlocked:
      return "waits for something";
    case ThreadState::kOff:
      return "on no processor";
  }
  return "";
}

// Rows of one thread after the other: where each begins, and at last where all end.
template <typename Table>
std::vector<size_t> FirstRowsOfThreads(const Table& table) {
  std::vector<size_t> first;
  for (size_t row = 0; row < table.size(); ++row) {
    if (row == 0 || table.thread[row] != table.thread[row - 1]) first.push_back(row);
  }
  first.push_back(table.size());
  return first;
}

void AddSwitchTracks(Timeline& timeline, std::vector<TrackPlan>& plans) {
  const Store& store = timeline.store();
  const std::vector<size_t> first = FirstRowsOfThreads(store.cpu_switches);
  DerivedTable& table = timeline.NewDerivedTable();
  std::vector<ThreadId> threads;
  for (size_t i = 0; i + 1 < first.size(); ++i) {
    threads.push_back(store.cpu_switches.thread[first[i]]);
    table.begins.push_back(static_cast<uint32_t>(table.name.size()));
    for (const ThreadStretch& stretch : StretchesOf(store, first[i], first[i + 1])) {
      table.Add(stretch.start_ns, stretch.end_ns, timeline.names().Add(NameOf(stretch.state)));
    }
  }
  table.begins.push_back(static_cast<uint32_t>(table.name.size()));
  AddTracksOfThreads(timeline, "thread_stretches", "Scheduling of a thread", table, threads,
                     {.kind = TrackKind::kSwitches, .title = "Processor"}, plans);
}

std::vector<StringId> NamesOfFrames(Timeline& timeline, const NativeFramesTable& frames) {
  std::vector<StringId> names;
  names.reserve(frames.size());
  for (size_t row = 0; row < frames.size(); ++row) {
    names.push_back(timeline.names().Add(FrameName(timeline.store(), NativeFrameId::At(row))));
  }
  return names;
}

// Each sample stands for the processor time before it.
void AddNativeTracks(Timeline& timeline, std::vector<TrackPlan>& plans) {
  const CpuSamplesTable& samples = timeline.store().cpu_samples;
  if (samples.size() == 0) return;
  const std::vector<size_t> first = FirstRowsOfThreads(samples);
  DerivedTable& table = timeline.NewDerivedTable();
  table.nests = true;  // recursion
  const std::vector<StringId> names = NamesOfFrames(timeline, timeline.store().native_frames);
  StackStretches stretches(table, kMostNativeDepth);
  std::vector<ThreadId> threads;
  for (size_t i = 0; i + 1 < first.size(); ++i) {
    threads.push_back(samples.thread[first[i]]);
    table.begins.push_back(static_cast<uint32_t>(table.name.size()));
    int64_t before_ns = INT64_MIN;
    for (size_t row = first[i]; row < first[i + 1]; ++row) {
      const int64_t at_ns = samples.start_ns[row];
      const int64_t from_ns = std::max(before_ns, at_ns - samples.cpu_ns[row]);
      const bool goes_on = stretches.is_open() && from_ns <= stretches.open_until_ns();
      stretches.Look(timeline.store().native_stacks, samples.native_stack[row], names, goes_on,
                     from_ns, at_ns);
      before_ns = at_ns;
    }
    stretches.EndThread();
  }
  table.begins.push_back(static_cast<uint32_t>(table.name.size()));
  AddTracksOfThreads(timeline, "native_stretches", "Native function", table, threads,
                     {.kind = TrackKind::kNative, .title = "Native code, sampled"}, plans);
}

}  // namespace

void AddCpuTracks(Timeline& timeline, std::vector<TrackPlan>& plans) {
  AddSwitchTracks(timeline, plans);
  AddNativeTracks(timeline, plans);
}

}  // namespace batchlight::timeline
