#include "analysis/breakdown/phase_events.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "analysis/breakdown/phase_events_parts.h"
#include "analysis/breakdown/track_device.h"
#include "analysis/owners/working_threads.h"
#include "base/thread_pool.h"

namespace batchlight {
namespace {

constexpr size_t kMostBins = 384;  // of all tracks

class Finder {
 public:
  Finder(const StepInputs& inputs, const StepSet& steps,
         const std::vector<StepBreakdown>& breakdowns, const std::vector<GpuBreakdown>& gpus,
         const Attribution& work)
      : inputs_(inputs),
        steps_(steps),
        breakdowns_(breakdowns),
        gpus_(gpus),
        work_(work),
        most_bins_(std::clamp<size_t>(
            kMostBins / std::max<size_t>(1, breakdowns.size() + gpus.size()), 8, BinFinder::kMost)),
        spans_(inputs.store) {}

  PhaseEvents Find() {
    PhaseEvents events;
    const std::vector<std::vector<ThreadId>> threads = FindWorkingThreads(inputs_.store);
    if (!gpus_.empty()) {
      devices_ = CollectDeviceWork(inputs_.store);
      launches_ = CollectGpuLaunches(inputs_.store, devices_);
      idle_.emplace(inputs_);
    }
    std::vector<std::function<TrackEvents()>> jobs;
    for (size_t i = 0; i < breakdowns_.size(); ++i) {
      const ProcessSteps& process = steps_.processes[i];
      jobs.emplace_back([&, i] { return OfCpu(process, breakdowns_[i], threads); });
      for (const GpuBreakdown& gpu : gpus_) {
        if (gpu.process == process.process) {
          jobs.emplace_back([&] { return OfGpu(process, gpu); });
        }
      }
    }
    events.tracks.resize(jobs.size());
    ParallelFor(jobs.size(), [&](size_t i) { events.tracks[i] = jobs[i](); });
    return events;
  }

 private:
  TrackEvents OfCpu(const ProcessSteps& process, const StepBreakdown& breakdown,
                    const std::vector<std::vector<ThreadId>>& threads) const {
    TrackEvents track{.process = process.process};
    EventGroups groups = Groups(process, nullptr, track);
    AddCpuEvents(inputs_, spans_, process, breakdown, threads[process.process.row()], groups);
    track.phases = groups.Take(breakdown.phases.size());
    return track;
  }

  TrackEvents OfGpu(const ProcessSteps& process, const GpuBreakdown& gpu) {
    TrackEvents track{.process = process.process, .device = TrackDevice(gpu.device)};
    EventGroups groups = Groups(process, &gpu, track);
    for (size_t i = 0; i < devices_.size(); ++i) {
      if (devices_[i].process != gpu.process || devices_[i].device != gpu.device) continue;
      AddGpuEvents(inputs_.store, spans_, *idle_, process, gpu, devices_[i],
                   std::move(launches_[i]), groups);
    }
    track.phases = groups.Take(kGpuPartCount);
    return track;
  }

  EventGroups Groups(const ProcessSteps& process, const GpuBreakdown* gpu,
                     TrackEvents& track) const {
    StepCut cut = CutSteps(process, most_bins_);
    std::vector<bool> steady(process.steps.size());
    for (const uint32_t step : process.steady) steady[step] = true;
    for (size_t step = 0; step < process.steps.size(); ++step) {
      const bool there = gpu == nullptr || gpu->steps[step].duration_ns() > 0;
      cut.bins[cut.bin_of_step[step]].steps += there;
    }
    track.bins = std::move(cut.bins);
    return EventGroups(inputs_.store, work_, track.bins.size(), std::move(cut.bin_of_step),
                       std::move(steady));
  }

  const StepInputs& inputs_;
  const StepSet& steps_;
  const std::vector<StepBreakdown>& breakdowns_;
  const std::vector<GpuBreakdown>& gpus_;
  const Attribution& work_;
  size_t most_bins_;
  CallSpans spans_;
  std::vector<DeviceWork> devices_;
  std::vector<std::vector<GpuLaunch>> launches_;  // by device
  std::optional<GpuIdleExplainer> idle_;
};

}  // namespace

const TrackEvents* PhaseEvents::Of(ProcessId process, int32_t device) const {
  for (const TrackEvents& track : tracks) {
    if (track.process == process && track.device == device) return &track;
  }
  return nullptr;
}

PhaseEvents FindPhaseEvents(const StepInputs& inputs, const StepSet& steps,
                            const std::vector<StepBreakdown>& breakdowns,
                            const std::vector<GpuBreakdown>& gpus, const Attribution& work) {
  return Finder(inputs, steps, breakdowns, gpus, work).Find();
}

namespace {

struct KindText {
  std::string_view key;
  std::string_view name;
};

// By EventKind.
constexpr KindText kKinds[] = {{"none", ""},
                               {"range", "range"},
                               {"phase_call", "call"},
                               {"module", "module"},
                               {"operator", "operator"},
                               {"cuda_call", "CUDA call"},
                               {"os_call", "OS call"},
                               {"mpi_call", "MPI call"},
                               {"kernel", "kernel"},
                               {"collective", "collective"},
                               {"graph", "graph"},
                               {"copy", "copy"},
                               {"memset", "memset"},
                               {"launch", "launch"},
                               {"smaller", ""}};
static_assert(std::size(kKinds) == static_cast<size_t>(EventKind::kSmaller) + 1);

}  // namespace

std::string_view EventKindName(EventKind kind) { return kKinds[static_cast<size_t>(kind)].name; }
std::string_view EventKindKey(EventKind kind) { return kKinds[static_cast<size_t>(kind)].key; }

}  // namespace batchlight
