#include "timeline/tracks/store_tracks.h"

#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <utility>

#include "analysis/ranks/process_ranks.h"
#include "base/thread_pool.h"
#include "timeline/rows/lanes.h"
#include "timeline/tracks/stream_events.h"
#include "timeline/tracks/thread_events.h"

namespace batchlight::timeline {
namespace {

// A job with workers by the hundred has as many threads: the first are shown in full.
constexpr size_t kOpenThreads = 4;

class Builder {
 public:
  Builder(Timeline& timeline, std::vector<TrackPlan> derived)
      : timeline_(timeline),
        store_(timeline.store()),
        threads_(timeline),
        streams_(timeline),
        ranks_(FindProcessRanks(store_)),
        derived_(std::move(derived)),
        threads_of_(store_.processes.size()) {
    for (size_t row = 0; row < store_.threads.size(); ++row) {
      const ProcessId process = store_.threads.process[row];
      (process.IsNone() ? threads_of_none_ : threads_of_[process.row()])
          .push_back(ThreadId::At(row));
    }
    for (size_t i = 0; i < derived_.size(); ++i) {
      const TrackPlan& plan = derived_[i];
      if (plan.thread.IsNone()) {
        derived_of_[{plan.process, plan.device}].push_back(i);
      } else {
        derived_of_thread_[plan.thread].push_back(i);
      }
    }
  }

  void Build() {
    for (const ProcessId process : Order()) AddProcess(process);
    AddProcess(ProcessId::None());
    std::vector<Track>& tracks = timeline_.tracks();
    ParallelFor(tracks.size(), [&](size_t i) { fills_[i](tracks[i]); });
  }

 private:
  // Ranks first, in order; then processes by start, as the store has them.
  std::vector<ProcessId> Order() const {
    std::vector<ProcessId> order;
    for (size_t row = 0; row < store_.processes.size(); ++row) order.push_back(ProcessId::At(row));
    const auto rank_of = [&](ProcessId id) {
      return ranks_[id.row()] < 0 ? INT32_MAX : ranks_[id.row()];
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](ProcessId a, ProcessId b) { return rank_of(a) < rank_of(b); });
    return order;
  }

  void AddProcess(ProcessId process) {
    group_ = -1;
    process_ = process;
    parent_ = -1;
    AddDerived(-1, false);
    AddDevices();
    AddThreads();
    AddLists(-1);
    AddDerived(-1, true);
    process_group_ = -1;
  }

  // Above the threads, whose calls nest deep: what a GPU waits for is the first question.
  void AddDevices() {
    for (const int64_t device : Devices()) {
      device_ = device;
      parent_ = EnsureProcessGroup();
      group_ = -1;
      AddDerived(device, false);
      AddLists(device);
      AddDerived(device, true);
    }
    parent_ = -1;
    group_ = -1;
  }

  std::vector<int64_t> Devices() const {
    std::vector<int64_t> devices;
    for (const StreamList& list : ListsFrom(0)) {
      if (list.process != process_) break;
      devices.push_back(list.device);
    }
    for (auto at = derived_of_.lower_bound({process_, 0});
         at != derived_of_.end() && at->first.first == process_; ++at) {
      devices.push_back(at->first.second);
    }
    std::sort(devices.begin(), devices.end());
    devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
    return devices;
  }

  // Those of the process from the device on; what follows is of others.
  std::span<const StreamList> ListsFrom(int64_t device) const {
    const std::span<const StreamList> all(streams_.lists());
    const auto first = std::partition_point(all.begin(), all.end(), [&](const StreamList& list) {
      return std::pair(list.process, list.device) < std::pair(process_, device);
    });
    return all.subspan(static_cast<size_t>(first - all.begin()));
  }

  int32_t NewGroup(Group group) {
    timeline_.groups().push_back(std::move(group));
    return static_cast<int32_t>(timeline_.groups().size()) - 1;
  }

  int32_t EnsureProcessGroup() {
    if (process_group_ >= 0) return process_group_;
    Group group{.kind = "host", .title = "On no process that is known", .process = process_};
    if (!process_.IsNone()) {
      group.kind = "process";
      group.title.clear();
      group.rank = ranks_[process_.row()];
      const ProcessesRow row = store_.processes.Row(process_.row());
      if (group.rank >= 0) group.title = "rank " + std::to_string(group.rank) + ", ";
      const std::string_view name = store_.Text(row.name);
      group.title += std::string(name.empty() ? "process" : name);
      group.title += " (pid " + std::to_string(row.pid) + ")";
    }
    process_group_ = NewGroup(std::move(group));
    return process_group_;
  }

  int32_t EnsureGroup() {
    if (parent_ < 0) return EnsureProcessGroup();
    if (group_ < 0) {
      group_ = NewGroup({.parent = parent_,
                         .kind = "gpu",
                         .title = "GPU " + std::to_string(device_),
                         .rank = process_.IsNone() ? -1 : ranks_[process_.row()],
                         .process = process_});
    }
    return group_;
  }

  void Add(Track track, std::function<void(Track& track)> fill) {
    track.group = EnsureGroup();
    timeline_.tracks().push_back(std::move(track));
    fills_.push_back(std::move(fill));
  }

  // Either those with events or the counters, which stand below what is counted.
  void AddDerived(int64_t device, bool counters) {
    const auto found = derived_of_.find({process_, device});
    if (found == derived_of_.end()) return;
    for (const size_t i : found->second) {
      if (derived_[i].track.series_titles.empty() == counters) continue;
      Add(std::move(derived_[i].track), std::move(derived_[i].fill));
    }
  }

  void AddDerivedOf(ThreadId thread, bool open) {
    const auto found = derived_of_thread_.find(thread);
    if (found == derived_of_thread_.end()) return;
    for (const size_t i : found->second) {
      TrackPlan& plan = derived_[i];
      plan.track.title += ": " + ThreadTitle(thread);
      plan.track.open = open;
      Add(std::move(plan.track), std::move(plan.fill));
    }
  }

  // The thread of the steps first, then by start.
  std::vector<ThreadId> ThreadsOfProcess() const {
    if (process_.IsNone()) {
      std::vector<ThreadId> threads = threads_of_none_;
      threads.push_back(ThreadId::None());
      return threads;
    }
    std::vector<ThreadId> threads = threads_of_[process_.row()];
    if (const ProcessSteps* steps = timeline_.steps().Of(process_)) {
      const auto at = std::find(threads.begin(), threads.end(), steps->thread);
      if (at != threads.end()) std::rotate(threads.begin(), at, at + 1);
    }
    return threads;
  }

  std::string ThreadTitle(ThreadId thread) const {
    if (thread.IsNone()) return "On no thread that is known";
    const ThreadsRow row = store_.threads.Row(thread.row());
    const bool is_main = !process_.IsNone() && store_.processes.pid[process_.row()] == row.tid;
    std::string name(store_.Text(row.name));
    if (name.empty()) name = is_main ? "main thread" : "thread";
    return name + " (tid " + std::to_string(row.tid) + ")";
  }

  void AddThreads() {
    size_t shown = 0;
    for (const ThreadId thread : ThreadsOfProcess()) {
      const bool calls = threads_.Has(thread, ThreadPart::kCalls);
      if (calls) {
        AddPart<NestedLanes>(thread, ThreadPart::kCalls,
                             {.kind = TrackKind::kThread,
                              .title = ThreadTitle(thread),
                              .open = shown++ < kOpenThreads});
      }
      if (threads_.Has(thread, ThreadPart::kImports)) {
        AddPart<NestedLanes>(thread, ThreadPart::kImports,
                             {.kind = TrackKind::kImports,
                              .title = "imports of " + ThreadTitle(thread),
                              .open = !calls && shown++ == 0});
      }
      AddDerivedOf(thread, !calls && shown++ == 0);
      if (threads_.Has(thread, ThreadPart::kStartEndRanges)) {
        AddPart<FreeLanes>(
            thread, ThreadPart::kStartEndRanges,
            {.kind = TrackKind::kRanges, .title = "start/end ranges of " + ThreadTitle(thread)});
      }
    }
  }

  template <typename Lanes>
  void AddPart(ThreadId thread, ThreadPart part, Track track) {
    track.thread = thread;
    Add(std::move(track), [this, thread, part](Track& filled) {
      RowFiller<Lanes> rows(filled);
      threads_.Visit(thread, part, [&](uint32_t ref, int64_t start_ns, int64_t end_ns) {
        rows.Add(ref, start_ns, end_ns);
      });
      rows.Finish();
    });
  }

  void AddLists(int64_t device) {
    for (const StreamList& list : ListsFrom(device)) {
      if (list.process != process_ || list.device != device) break;
      Add({.kind = list.kind, .title = list.title, .open = list.kind == TrackKind::kStream},
          [this, &list](Track& track) {
            FillRows<FreeLanes>(timeline_.events(), streams_.EventsOf(list), track);
          });
    }
  }

  Timeline& timeline_;
  const Store& store_;
  ThreadTables threads_;
  StreamTables streams_;
  std::vector<int32_t> ranks_;
  std::vector<TrackPlan> derived_;
  // Places in `derived_`.
  std::map<std::pair<ProcessId, int64_t>, std::vector<size_t>> derived_of_;
  std::map<ThreadId, std::vector<size_t>> derived_of_thread_;
  std::vector<std::vector<ThreadId>> threads_of_;  // by process
  std::vector<ThreadId> threads_of_none_;
  std::vector<std::function<void(Track& track)>> fills_;
  ProcessId process_;
  int64_t device_ = -1;
  int32_t parent_ = -1;
  int32_t group_ = -1;
  int32_t process_group_ = -1;
};

}  // namespace

void AddStoreTracks(Timeline& timeline, std::vector<TrackPlan> derived) {
  Builder(timeline, std::move(derived)).Build();
}

}  // namespace batchlight::timeline
