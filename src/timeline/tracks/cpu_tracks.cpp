// What each thread had of the processors: by its switches, and by samples of its native stacks.
#include <algorithm>
#include <string>
#include <vector>

#include "analysis/cpu/sample_sums.h"
#include "analysis/cpu/thread_times.h"
#include "timeline/tracks/derived_tracks.h"

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

// Of samples one after the other, functions that stay are one event. Each sample stands for the
// processor time before it.
class NativeStretches {
 public:
  NativeStretches(Timeline& timeline, DerivedTable& table) : timeline_(timeline), table_(table) {
    const Store& store = timeline.store();
    names_.reserve(store.native_frames.size());
    for (size_t row = 0; row < store.native_frames.size(); ++row) {
      names_.push_back(timeline.names().Add(FrameName(store, NativeFrameId::At(row))));
    }
  }

  void Look(NativeStackId stack, int64_t start_ns, int64_t end_ns) {
    const Store& store = timeline_.store();
    std::vector<StringId> found;
    for (; !stack.IsNone(); stack = store.native_stacks.parent[stack.row()]) {
      const NativeFrameId frame = store.native_stacks.frame[stack.row()];
      if (!frame.IsNone()) found.push_back(names_[frame.row()]);
    }
    std::reverse(found.begin(), found.end());
    if (found.size() > kMostNativeDepth) found.resize(kMostNativeDepth);
    size_t same = 0;
    const bool goes_on = !open_.empty() && start_ns <= table_.end_ns[open_.front()];
    while (goes_on && same < open_.size() && same < found.size() &&
           table_.name[open_[same]] == found[same]) {
      table_.end_ns[open_[same++]] = end_ns;
    }
    const int64_t from_ns = goes_on ? std::max(start_ns, last_end_ns_) : start_ns;
    open_.resize(same);
    for (; same < found.size(); ++same) {
      open_.push_back(table_.name.size());
      table_.Add(from_ns, end_ns, found[same]);
    }
    last_end_ns_ = end_ns;
  }
  void EndThread() { open_.clear(); }

 private:
  Timeline& timeline_;
  DerivedTable& table_;
  std::vector<StringId> names_;  // by row of native_frames
  std::vector<size_t> open_;     // rows of the table, outermost first
  int64_t last_end_ns_ = 0;
};

void AddNativeTracks(Timeline& timeline, std::vector<TrackPlan>& plans) {
  const CpuSamplesTable& samples = timeline.store().cpu_samples;
  if (samples.size() == 0) return;
  const std::vector<size_t> first = FirstRowsOfThreads(samples);
  DerivedTable& table = timeline.NewDerivedTable();
  table.nests = true;  // recursion
  NativeStretches stretches(timeline, table);
  std::vector<ThreadId> threads;
  for (size_t i = 0; i + 1 < first.size(); ++i) {
    threads.push_back(samples.thread[first[i]]);
    table.begins.push_back(static_cast<uint32_t>(table.name.size()));
    int64_t before_ns = INT64_MIN;
    for (size_t row = first[i]; row < first[i + 1]; ++row) {
      const int64_t at_ns = samples.start_ns[row];
      stretches.Look(samples.native_stack[row], std::max(before_ns, at_ns - samples.cpu_ns[row]),
                     at_ns);
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
