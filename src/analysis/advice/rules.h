// The rules of rules.def, each defined in the file of its group (loop/step_rules.cpp,
// gpu/gpu_rules.cpp, ...), and what several of them ask.
#pragma once

#include <string>
#include <vector>

#include "analysis/advice/advice.h"
#include "analysis/advice/thresholds.h"
#include "analysis/lines/code_samples.h"

namespace batchlight::advice {

using Findings = std::vector<Finding>;

#define RULE(id, function, sentence, fires_when, estimate) \
  void function(const RunMeasures& run, Findings* findings);
#include "analysis/advice/rules.def"
#undef RULE

// Says of each finding, in order, which before it save the same time.
void NameSharedGains(std::vector<Finding>* findings);
// What gpu-underused says to do: see the best of `findings`, in order, that is about the largest
// cause, if one is. (gpu/underused_rules.cpp)
void PointAtCause(const RunMeasures& run, Findings* findings);

// Shares used by several rules ---------------------------------------------------------------

// From the start to the end of the main training process, ns; of the recording without one.
double RunWallNs(const RunMeasures& run);
// Mean steady step of the main process, ns; 0 without steps.
double MeanStepNs(const RunMeasures& run);
// Whether two runs of the program, with the gain and without, would show it (kVisibleGain).
bool CanBeSeen(const RunMeasures& run, double gain_ns);
// Share and mean time of a part of the GPU's breakdown; 0 without a GPU.
double GpuShare(const RunMeasures& run, GpuPart part);
double GpuPartNs(const RunMeasures& run, GpuPart part);
// Mean time of a step of the parts that are outside of all that is recorded (IsIdleOutside), ns.
double OutsideIdleNs(const RunMeasures& run);
// Mean time of a step that python-work is about, 0: it says nothing. ns (loop/python_rules.cpp)
double OwnPythonNs(const RunMeasures& run);
// Mean time of a step in which the GPU idles while the loop frees batches behind their copies, as
// pageable-copy tells; 0: it says nothing of that. ns (gpu/transfer_rules.cpp)
double FreedBatchesNs(const RunMeasures& run);
// Mean time of a step in which the GPU idles while operators compute on tensors of the CPU, called
// by functions that python-work names; 0: others call them. ns (loop/python_rules.cpp)
double OwnCpuTensorsNs(const RunMeasures& run);
// The function that gpu-held-back is about, nullptr: it says nothing. What others say of the same
// time is without it. (gpu/held_gpu_rules.cpp)
const HoldingFunction* HolderOfGpu(const RunMeasures& run);
// How long the GPU idles because of it in this way, ns a step; 0: there is none.
double HeldIdleNs(const RunMeasures& run, GpuPart part);
double HeldOutsideIdleNs(const RunMeasures& run);  // in those of OutsideIdleNs
// Mean time of a step that the function of slow-function makes longer, 0: none is named. ns
double SlowFunctionNs(const RunMeasures& run);
// Mean time of a step that update-by-hand is about, 0: it says nothing. ns
// (model/optimizer_rules.cpp)
double UpdatedByHandNs(const RunMeasures& run);
// Mean time of a step that autograd's anomaly detection takes, 0: it is off. ns
// (machine/settings_rules.cpp)
double AnomalyNs(const RunMeasures& run);
// Mean time of a step in which the GPU idles while the CPU is between two operators of backward for
// longer than these take it: it waits, for other ranks for instance. ns
double BackwardWaitNs(const RunMeasures& run);
// Mean time of a step in which the GPU waits for the CPU to launch, without the above, ns.
double LaunchIdleNs(const RunMeasures& run);
// Part of the GPU's time by which a kernel's becoming shorter shortens the step: the GPU must be
// what the step waits for, and kernels that run beside each other share the time.
// (gpu/compute_rules.cpp)
double EffectiveNs(const RunMeasures& run, double kernel_ns);
// Whether attention is written out where it could be fused, and takes enough of a step to be told.
// (model/forward_part_rules.cpp)
bool IsAttentionWrittenOut(const RunMeasures& run);
// What backward computes again of the forward, ns a step; 0: nothing, or too little to be told.
// (model/forward_rules.cpp)
double RecomputedNs(const RunMeasures& run);
// Backwards of a steady step, which are more than one where gradients are summed up.
// (model/repeat_rules.cpp)
double BackwardsPerStep(const RunMeasures& run, const ProcessSteps& main);
// How much of a gain in GPU time shortens the step. Where the GPU idles because the CPU is slow to
// launch, faster kernels help only as far as the CPU ever waits for the GPU. `cpu_ns`: what
// the CPU is spared by the same change. (gpu/cpu_slack.cpp)
double WithinCpuSlack(const RunMeasures& run, double gain_ns, double cpu_ns = 0);
// By how much a step gets shorter without this work of the GPU and this time of the CPU: as large a
// part of what the GPU idles between kernels goes with the work, as far as the CPU is spared too.
double WithoutWorkNs(const RunMeasures& run, double gpu_ns, double cpu_ns);
// By how much a step gets shorter without what the CPU does alone, as it waits for the GPU again
// and again: as far as the GPU's other work is not longer. (gpu/cpu_slack.cpp)
double RemovableNs(const RunMeasures& run, double cpu_ns, double gpu_ns);
// What recording likely adds to a step on the CPU, as measured or estimated. ns (gpu/cpu_slack.cpp)
double LikelyRecordingNs(const RunMeasures& run);
// Share of a phase on the CPU side, 0 to 1.
double PhaseShareOf(const RunMeasures& run, PhaseKind kind);
// A setting of the training process; its helpers (compilers, loader workers) have their own.
std::string_view TrainingProperty(const RunMeasures& run, std::string_view key);
// The same as a number; 0 where it was not recorded.
double NumberProperty(const RunMeasures& run, std::string_view key);
// Whether PyTorch is at least as new; false where its version was not recorded.
bool HasPyTorch(const RunMeasures& run, long major, long minor);
// Those that the job may use; 0: not known.
int UsableProcessors(const RunMeasures& run);
// "train.py:41", where the program made or called something; "" where it was not recorded.
std::string RecordedPlace(const RunMeasures& run, std::string_view key);
// The module of that path; nullptr: there is none.
const ModuleRow* ModuleOf(const RunMeasures& run, std::string_view path);
// Fewer blocks than the GPU has SMs.
bool HasSmallGrid(const KernelRow& kernel);
// torch.compile was used: by its module or by a kernel of Triton that it made.
bool IsCompiled(const RunMeasures& run);
// What samples saw of the loop's thread in a stage; both "" where Python was not sampled.
struct StageCode {
  std::string seen;  // " Most of it is in `build_vocabulary` (data.py:12)."
  std::string hint;  // what to do with it first (code_hints.h), with a blank behind it
};
StageCode CodeOfStage(const RunMeasures& run, StageKind kind);
// A DataLoader that starts worker processes: its iterator, and what its first batch takes beyond a
// usual one.
struct WorkerStart {
  int64_t at_ns = 0;
  int64_t took_ns = 0;        // until its first batch, beyond what a batch takes
  int64_t end_before_ns = 0;  // waiting for the end of the workers before
};
// Those of the training loop's thread, validation's too, in order. (loading/data_rules.cpp)
std::vector<WorkerStart> FindWorkerStarts(const Store& store, const ProcessSteps& main);
// How to start spawned workers in less time. (loading/data_rules.cpp)
std::string CheaperStartOfWorkers();
// Iterators of DataLoaders that steps make, one or more each, and what of making them a step waits
// for; nothing where that is little or not known. (loading/iterator_rules.cpp)
struct IteratorsInSteps {
  double per_step = 0;
  bool has_workers = false;
  double exposed_ns = 0;
  SampledTime sampled;  // functions of the program's own that make them
};
IteratorsInSteps IteratorsMadeInSteps(const RunMeasures& run);
// Whose code the loop is, by what the program imported: its author writes arguments, no loop.
enum class LoopOwner { kProgram, kTransformers, kLightning };
LoopOwner OwnerOfLoop(const RunMeasures& run);
// The share of the CPU's time that no GPU work hides: the GPU's idle share, 1 without a GPU.
double CpuExposure(const RunMeasures& run);

}  // namespace batchlight::advice
