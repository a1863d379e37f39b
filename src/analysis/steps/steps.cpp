#include "analysis/steps/steps.h"

#include <algorithm>
#include <unordered_map>

#include "analysis/numbers/capture_windows.h"
#include "analysis/numbers/time_span.h"
#include "analysis/steps/graph_use.h"
#include "analysis/steps/loop_span.h"
#include "analysis/steps/similar_names.h"
#include "analysis/steps/step_calls.h"
#include "analysis/steps/step_inputs.h"
#include "analysis/steps/step_period.h"
#include "analysis/steps/step_ranges.h"
#include "analysis/steps/step_replays.h"
#include "analysis/steps/step_requests.h"
#include "analysis/steps/step_window.h"

namespace batchlight {
namespace {

// Processes that follow the loop by the same means belong together; a DataLoader worker that runs
// a few operators is no training process beside one that steps an optimizer.
int Strength(StepSource source) {
  switch (source) {
    case StepSource::kNvtxRange:
    case StepSource::kOptimizer:
    case StepSource::kBackward:
      return 3;
    case StepSource::kDataLoader:
    case StepSource::kGraphReplay:
      return 2;
    case StepSource::kRequest:
    case StepSource::kKernelPeriod:
    case StepSource::kOperatorPeriod:
      return 1;
    case StepSource::kNone:
      break;
  }
  return 0;
}

struct Candidate {
  ProcessId process;
  FoundSteps found;
};

double LoopNs(const Candidate& candidate) { return SpanOfLoop(candidate.found.steps).whole_ns(); }

// A loop that replays its step as one CUDA graph calls the optimizer only while it warms up and
// captures: then more replays follow the last call than there were calls.
bool IsReplayedAfter(const StepInputs& inputs, const FoundSteps& found) {
  const std::vector<uint32_t> replays = FindGraphUse(inputs.store, found.thread).replays;
  const auto after = std::count_if(replays.begin(), replays.end(), [&](uint32_t row) {
    return inputs.store.api_calls.start_ns[row] >= found.steps.back().end_ns;
  });
  return after >= 3 && static_cast<size_t>(after) > found.steps.size();
}

// Batches that replay nothing, once the loop replays, are another loop's: a validation's.
void DropBatchesWithoutReplay(const Store& store, FoundSteps* found) {
  std::vector<int64_t> replays;
  for (const uint32_t row : FindGraphUse(store, found->thread).replays) {
    replays.push_back(store.api_calls.start_ns[row]);
  }
  std::erase_if(found->steps, [&](const Step& step) {
    const auto replay = std::lower_bound(replays.begin(), replays.end(), step.start_ns);
    return replay != replays.begin() && (replay == replays.end() || *replay >= step.end_ns);
  });
}

FoundStepsOrNone FindTraining(const StepInputs& inputs, ProcessId process) {
  FoundStepsOrNone found = StepsFromRanges(inputs, process);
  if (found) return found;
  found = StepsFromOptimizer(inputs, process);
  if (!found) found = StepsFromBackward(inputs, process);
  const bool replayed = found && IsReplayedAfter(inputs, *found);
  if (found && !replayed) return found;
  found = StepsFromDataLoader(inputs, process);
  if (found && replayed) DropBatchesWithoutReplay(inputs.store, &*found);
  if (found && found->steps.empty()) found.reset();
  if (!found && replayed) found = StepsFromReplays(inputs, process);
  return found;
}

std::vector<Candidate> FindMarked(const StepInputs& inputs, const StepOptions& options) {
  std::vector<Candidate> candidates;
  for (size_t row = 0; row < inputs.store.processes.size(); ++row) {
    const ProcessId process = ProcessId::At(row);
    FoundStepsOrNone found;
    if (!options.range.empty()) {
      found = StepsFromRange(inputs, process, options.range);
    } else if (!options.key.empty()) {
      found = StepsFromKey(inputs, process, options.key);
    } else {
      found = FindTraining(inputs, process);
    }
    if (found) candidates.push_back({process, std::move(*found)});
  }
  return candidates;
}

// Programs that train nothing by PyTorch's means: JAX, whose steps are CUDA graphs, or a model that
// only answers.
std::vector<Candidate> FindOther(const StepInputs& inputs) {
  std::vector<Candidate> candidates;
  for (const auto& find : {StepsFromReplays, StepsFromRequests}) {
    for (size_t row = 0; row < inputs.store.processes.size(); ++row) {
      FoundStepsOrNone found = find(inputs, ProcessId::At(row));
      if (found) candidates.push_back({ProcessId::At(row), std::move(*found)});
    }
    if (!candidates.empty()) break;
  }
  return candidates;
}

std::vector<Candidate> FindPeriodic(const StepInputs& inputs) {
  std::unordered_map<ProcessId, std::vector<uint32_t>> kernels;
  for (size_t row = 0; row < inputs.store.kernels.size(); ++row) {
    const ProcessId process = inputs.store.kernels.process[row];
    if (!process.IsNone()) kernels[process].push_back(static_cast<uint32_t>(row));
  }
  size_t most = 0;
  for (const auto& [process, rows] : kernels) most = std::max(most, rows.size());
  std::vector<Candidate> candidates;
  for (size_t row = 0; row < inputs.store.processes.size(); ++row) {
    const ProcessId process = ProcessId::At(row);
    const auto own = kernels.find(process);
    if (own == kernels.end() || own->second.size() * 10 < most) continue;
    FoundStepsOrNone found = StepsFromKernelPeriod(inputs, process, own->second);
    if (found) candidates.push_back({process, std::move(*found)});
  }
  if (!candidates.empty()) return candidates;
  for (size_t row = 0; row < inputs.store.processes.size(); ++row) {
    FoundStepsOrNone found = StepsFromOperatorPeriod(inputs, ProcessId::At(row));
    if (found) candidates.push_back({ProcessId::At(row), std::move(*found)});
  }
  return candidates;
}

// Between two captures nothing was collected: what reaches over such a gap is no step, however it
// looks from its ends.
void DropStepsAcrossGaps(const Store& store, std::vector<Candidate>& candidates) {
  const std::vector<TimeSpan> windows = CaptureWindows(store);
  std::vector<TimeSpan> gaps;
  for (size_t i = 1; i < windows.size(); ++i) {
    gaps.push_back({windows[i - 1].end_ns, windows[i].start_ns});
  }
  for (Candidate& candidate : candidates) {
    std::erase_if(candidate.found.steps, [&](const Step& step) {
      const auto gap = std::partition_point(gaps.begin(), gaps.end(), [&](const TimeSpan& one) {
        return one.start_ns < step.start_ns;
      });
      return gap != gaps.end() && gap->end_ns <= step.end_ns;
    });
  }
  std::erase_if(candidates,
                [](const Candidate& candidate) { return candidate.found.steps.empty(); });
}

void KeepTrainingProcesses(std::vector<Candidate>& candidates) {
  int strongest = 0;
  double longest = 0;
  for (const Candidate& candidate : candidates) {
    strongest = std::max(strongest, Strength(candidate.found.source));
  }
  for (const Candidate& candidate : candidates) {
    if (Strength(candidate.found.source) == strongest) {
      longest = std::max(longest, LoopNs(candidate));
    }
  }
  std::erase_if(candidates, [&](const Candidate& candidate) {
    // A helper that stepped something for a moment is no training process.
    return Strength(candidate.found.source) < strongest || LoopNs(candidate) * 20 < longest;
  });
}

// Leaves the processes of one rank; all of them, and a problem said, where no process has it.
void KeepRank(int32_t rank, StepSet& set) {
  const auto is_other = [&](const ProcessSteps& process) { return process.rank != rank; };
  if (!std::all_of(set.processes.begin(), set.processes.end(), is_other)) {
    std::erase_if(set.processes, is_other);
    return;
  }
  std::string known;
  for (const ProcessSteps& process : set.processes) {
    if (process.rank >= 0) known += (known.empty() ? "" : ", ") + std::to_string(process.rank);
  }
  set.problem = "no training process has rank " + std::to_string(rank) +
                (known.empty() ? "; ranks were not recorded" : "; the run has " + known);
}

std::string WhyNone(const Store& store) {
  const bool no_loop =
      std::all_of(store.phase_calls.phase.begin(), store.phase_calls.phase.end(), IsOutsideOfLoops);
  if (no_loop &&
      store.nvtx_ranges.size() + store.operator_calls.size() + store.kernels.size() == 0) {
    return "no steps: the recording holds no ranges, no PyTorch calls and no kernels";
  }
  return "no steps: nothing repeats like a training step; mark one with the NVTX range \"step\"";
}

// What --steps and --every counted while the program ran, where a step is something else: that
// several optimizers make an iteration shows only when many have been seen.
std::string WindowsText(const Store& store, const ProcessSteps& main) {
  if (store.Property("session.step_windows").empty()) return {};
  if (!store.Property("session.step_range").empty()) return {};
  const PhaseCallsTable& calls = store.phase_calls;
  size_t counted = 0;
  int64_t counted_until_ns = main.steps.front().start_ns;
  for (size_t row = 0; row < calls.size(); ++row) {
    if (calls.thread[row] != main.thread || calls.phase[row] != Phase::kOptimizerStep) continue;
    const int64_t start_ns = calls.start_ns[row];
    if (start_ns < counted_until_ns || start_ns >= main.steps.back().end_ns) continue;
    ++counted;
    counted_until_ns = calls.end_ns[row];
  }
  const size_t each = (counted + main.steps.size() / 2) / main.steps.size();
  if (each < 2) return {};
  return "; --steps and --every counted optimizer steps, about " + std::to_string(each) +
         " to each of these";
}

std::string RangeProblem(const ProcessSteps& process, int64_t first_step,
                         const std::string& problem) {
  const size_t last = process.steps.size() - 1;
  return (problem.empty() ? "" : problem + "; ") + "the run has " +
         (last == 0 ? "one step, 0" : "steps 0 to " + std::to_string(last)) + ", none from " +
         std::to_string(first_step) + " on";
}

// Each process has steps of its own that count, or is left out.
void ChooseParts(const StepInputs& inputs, const std::vector<ProcessPart>& parts, StepSet& set) {
  std::vector<ProcessSteps> kept;
  for (ProcessSteps& process : set.processes) {
    for (const ProcessPart& part : parts) {
      if (part.process != process.process) continue;
      FindSteadyWindow(inputs, part.steps, process);
      kept.push_back(std::move(process));
      break;
    }
  }
  set.processes = std::move(kept);
}

// The same steps of each process.
void ChooseSame(const StepInputs& inputs, const StepPart& part, StepSet& set) {
  for (ProcessSteps& process : set.processes) {
    const bool outside = part.first_step >= static_cast<int64_t>(process.steps.size());
    if (outside) set.problem = RangeProblem(process, part.first_step, set.problem);
    FindSteadyWindow(inputs, outside ? StepPart() : part, process);
  }
}

}  // namespace

std::string QuotedName(std::string_view name) {
  const std::string text(name);
  return text.size() <= 60 ? "\"" + text + "\"" : "\"" + text.substr(0, 57) + "...\"";
}

const ProcessSteps* StepSet::Of(ProcessId process) const {
  for (const ProcessSteps& steps : processes) {
    if (steps.process == process) return &steps;
  }
  return nullptr;
}

StepSet FindSteps(const Store& store, const StepOptions& options) {
  const StepInputs inputs(store);
  return FindSteps(inputs, options);
}

StepSet FindLoops(const StepInputs& inputs, const StepOptions& options) {
  const Store& store = inputs.store;
  StepSet set;
  std::vector<Candidate> candidates = FindMarked(inputs, options);
  const std::string& asked = options.range.empty() ? options.key : options.range;
  if (candidates.empty() && !asked.empty()) {
    set.problem =
        "nothing that was recorded is named " + QuotedName(asked) + NamesLike(store, asked);
    candidates = FindMarked(inputs, {});
  }
  if (candidates.empty()) candidates = FindOther(inputs);
  if (candidates.empty()) candidates = FindPeriodic(inputs);
  DropStepsAcrossGaps(store, candidates);
  if (candidates.empty()) {
    set.how = WhyNone(store);
    return set;
  }
  KeepTrainingProcesses(candidates);
  std::stable_sort(candidates.begin(), candidates.end(),
                   [&](const Candidate& a, const Candidate& b) {
                     const int32_t rank_a = store.processes.rank[a.process.row()];
                     const int32_t rank_b = store.processes.rank[b.process.row()];
                     if (rank_a >= 0 && rank_b >= 0) return rank_a < rank_b;
                     return LoopNs(a) > LoopNs(b);
                   });
  set.how = candidates.front().found.how;
  for (Candidate& candidate : candidates) {
    ProcessSteps process{.process = candidate.process,
                         .rank = store.processes.rank[candidate.process.row()],
                         .thread = candidate.found.thread,
                         .source = candidate.found.source,
                         .marker = std::move(candidate.found.marker),
                         .steps = std::move(candidate.found.steps),
                         .micro_batches = candidate.found.micro_batches};
    set.processes.push_back(std::move(process));
  }
  return set;
}

StepSet ChooseSteps(const StepInputs& inputs, const StepOptions& options, StepSet set) {
  if (set.processes.empty()) return set;
  if (options.parts.empty()) {
    ChooseSame(inputs, {options.first_step, options.last_step}, set);
  } else {
    ChooseParts(inputs, options.parts, set);
    if (set.processes.empty()) return set;
  }
  set.how += WindowsText(inputs.store, set.processes.front());
  if (options.rank >= 0) KeepRank(options.rank, set);
  return set;
}

StepSet FindSteps(const StepInputs& inputs, const StepOptions& options) {
  return ChooseSteps(inputs, options, FindLoops(inputs, options));
}

std::string_view StepKindName(StepKind kind) {
  switch (kind) {
    case StepKind::kSteady:
      return "steady";
    case StepKind::kWarmUp:
      return "warm-up";
    case StepKind::kCompile:
      return "compile";
    case StepKind::kValidation:
      return "validation";
    case StepKind::kRollout:
      return "rollout";
    case StepKind::kCheckpoint:
      return "checkpoint";
    case StepKind::kEpochStart:
      return "epoch start";
    case StepKind::kExcluded:
      return "excluded";
    case StepKind::kGraphCapture:
      return "graph capture";
    case StepKind::kPlain:
      return "without detail";
    case StepKind::kPartlyPlain:
      return "partly without detail";
    case StepKind::kCounted:
      return "counters read";
    case StepKind::kLookedAt:
      return "looked at";
    case StepKind::kCount:
      break;
  }
  return "";
}

std::string_view StepSourceName(StepSource source) {
  switch (source) {
    case StepSource::kNone:
      return "none";
    case StepSource::kNvtxRange:
      return "nvtx_range";
    case StepSource::kOptimizer:
      return "optimizer_step";
    case StepSource::kDataLoader:
      return "dataloader";
    case StepSource::kKernelPeriod:
      return "kernel_period";
    case StepSource::kOperatorPeriod:
      return "operator_period";
    case StepSource::kGraphReplay:
      return "graph_replay";
    case StepSource::kBackward:
      return "backward";
    case StepSource::kRequest:
      return "request";
  }
  return "";
}

}  // namespace batchlight
