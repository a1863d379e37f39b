#include <algorithm>
#include <map>
#include <unordered_map>

#include "analysis/breakdown/phase_events_parts.h"

namespace batchlight {
namespace {

class GpuEvents {
 public:
  GpuEvents(const Store& store, const ProcessSteps& steps, const GpuBreakdown& breakdown,
            const DeviceWork& work, std::vector<GpuLaunch> launches, EventGroups& groups)
      : store_(store), steps_(steps), work_(work), launches_(std::move(launches)), groups_(groups) {
    SortByStart(launches_);
    for (const GpuLaunch& launch : launches_) kinds_.push_back(KindOf(launch));
    for (uint32_t step = 0; step < breakdown.steps.size(); ++step) {
      const GpuStepParts& parts = breakdown.steps[step];
      if (parts.duration_ns() > 0) windows_.push_back({step, parts.start_ns, parts.end_ns});
    }
  }

  void Add(const CallSpans& spans, const GpuIdleExplainer& idle) {
    for (size_t kind = 0; kind < kGpuWorkCount; ++kind) {
      AddBusy(static_cast<GpuWork>(kind));
      covered_ = UniteSpans(covered_, work_.work[kind]);
    }
    for (const Window& window : windows_) ExplainGaps(idle, window);
    for (const auto& [thread, asked] : asked_) {
      ThreadEvents events(store_, spans, thread, steps_,
                          [this](const Occurrence& found) { groups_.Add(found); });
      for (const AskedStretch& one : asked) events.Give(one);
      events.Finish();
    }
  }

 private:
  struct Window {
    uint32_t step;
    int64_t start_ns;
    int64_t end_ns;
  };

  GpuWork KindOf(const GpuLaunch& launch) {
    switch (launch.table) {
      case GpuTable::kGraphLaunches:
        return GpuWork::kGraph;
      case GpuTable::kMemcpys:
        return GpuWork::kCopy;
      case GpuTable::kMemsets:
        return GpuWork::kMemset;
      case GpuTable::kKernels:
        break;
    }
    const StringId name = store_.kernels.demangled_name[launch.row];
    const auto [known, added] = kind_of_name_.try_emplace(name, GpuWork::kCompute);
    if (added) known->second = WorkOfKernel(store_.Text(name));
    return known->second;
  }

  EventRef EventOf(size_t launch) const {
    switch (launches_[launch].table) {
      case GpuTable::kGraphLaunches:
        return {EventKind::kGraph, launches_[launch].row};
      case GpuTable::kMemcpys:
        return {EventKind::kCopy, launches_[launch].row};
      case GpuTable::kMemsets:
        return {EventKind::kMemset, launches_[launch].row};
      case GpuTable::kKernels:
        break;
    }
    const bool collective = kinds_[launch] == GpuWork::kCommunication;
    return {collective ? EventKind::kCollective : EventKind::kKernel, launches_[launch].row};
  }

  // Work of one kind that runs side by side counts once: for what began first.
  void AddBusy(GpuWork kind) {
    CoveredSoFar covered;
    size_t window = 0;
    for (size_t i = 0; i < launches_.size(); ++i) {
      const GpuLaunch& launch = launches_[i];
      if (kinds_[i] != kind || launch.end_ns == kOpenEnd) continue;
      const int64_t from_ns = covered.StartOfNew(launch.start_ns, launch.end_ns);
      if (from_ns >= launch.end_ns) continue;
      while (window < windows_.size() && windows_[window].end_ns <= from_ns) ++window;
      for (size_t w = window; w < windows_.size() && windows_[w].start_ns < launch.end_ns; ++w) {
        AddPiece(i, kind, windows_[w], from_ns);
      }
    }
  }

  void AddPiece(size_t launch, GpuWork kind, const Window& window, int64_t from_ns) {
    const int64_t start_ns = std::max(from_ns, window.start_ns);
    const int64_t end_ns = std::min(launches_[launch].end_ns, window.end_ns);
    const int64_t ns = end_ns - start_ns - NsInside(covered_, start_ns, end_ns);
    if (ns <= 0) return;
    const AskedStretch asked{start_ns, end_ns, static_cast<uint32_t>(kind), window.step};
    groups_.Add({.event = EventOf(launch),
                 .start_ns = launches_[launch].start_ns,
                 .ns = ns,
                 .asked = asked});
  }

  void ExplainGaps(const GpuIdleExplainer& idle, const Window& window) {
    VisitGaps(covered_, window.start_ns, window.end_ns, [&](int64_t from_ns, int64_t to_ns) {
      const auto next = FirstFrom(launches_, to_ns);
      const bool ended = next != launches_.end();
      const auto at = static_cast<size_t>(next - launches_.begin());
      const EventRef before = ended ? EventOf(at) : EventRef{};
      const EventRef after = at > 0 ? EventOf(at - 1) : EventRef{};
      idle.Explain(from_ns, to_ns, ended ? next->call : ApiCallId::None(),
                   [&](const IdleStretch& stretch) {
                     AddIdle({.start_ns = stretch.start_ns,
                              .end_ns = stretch.end_ns,
                              .phase = static_cast<uint32_t>(stretch.part),
                              .step = window.step,
                              .before = before,
                              .after = after},
                             stretch);
                   });
    });
  }

  void AddIdle(const AskedStretch& asked, const IdleStretch& stretch) {
    if (!stretch.thread.IsNone()) return asked_[stretch.thread].push_back(asked);
    const bool on_its_way = stretch.part == GpuPart::kIdleLaunch;
    groups_.Add({.event = {on_its_way ? EventKind::kLaunch : EventKind::kNone, kNoRow},
                 .start_ns = asked.start_ns,
                 .ns = asked.end_ns - asked.start_ns,
                 .asked = asked});
  }

  const Store& store_;
  const ProcessSteps& steps_;
  const DeviceWork& work_;
  std::vector<GpuLaunch> launches_;  // by start
  std::vector<GpuWork> kinds_;       // of each launch
  std::unordered_map<StringId, GpuWork> kind_of_name_;
  std::vector<Window> windows_;
  std::vector<TimeSpan> covered_;  // by the kinds of work so far
  std::map<ThreadId, std::vector<AskedStretch>> asked_;
  EventGroups& groups_;
};

}  // namespace

void AddGpuEvents(const Store& store, const CallSpans& spans, const GpuIdleExplainer& idle,
                  const ProcessSteps& steps, const GpuBreakdown& breakdown, const DeviceWork& work,
                  std::vector<GpuLaunch> launches, EventGroups& groups) {
  GpuEvents(store, steps, breakdown, work, std::move(launches), groups).Add(spans, idle);
}

}  // namespace batchlight
