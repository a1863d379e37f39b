// The rules by group; registry.cpp lists them.
#pragma once

#include <vector>

#include "analysis/advice/advice.h"

namespace batchlight::advice {

using Findings = std::vector<Finding>;

// step_rules.cpp
void NoSteps(const RunMeasures& run, Findings* findings);
void UnevenSteps(const RunMeasures& run, Findings* findings);
void CheckpointInStep(const RunMeasures& run, Findings* findings);
void Recompilation(const RunMeasures& run, Findings* findings);
// data_rules.cpp
void DataLoaderWait(const RunMeasures& run, Findings* findings);
void DataLoaderRestart(const RunMeasures& run, Findings* findings);
// gpu_rules.cpp
void GpuUnderused(const RunMeasures& run, Findings* findings);
void LaunchBound(const RunMeasures& run, Findings* findings);
void SmallKernels(const RunMeasures& run, Findings* findings);
void UnfusedOptimizer(const RunMeasures& run, Findings* findings);
void ExposedCommunication(const RunMeasures& run, Findings* findings);
void GridTooSmall(const RunMeasures& run, Findings* findings);
// stream_rules.cpp
void SerializedStreams(const RunMeasures& run, Findings* findings);
// transfer_rules.cpp
void HostSynchronization(const RunMeasures& run, Findings* findings);
void PageableCopies(const RunMeasures& run, Findings* findings);
void ExposedCopies(const RunMeasures& run, Findings* findings);
void AllocatorRetries(const RunMeasures& run, Findings* findings);
// compute_rules.cpp
void Tf32Off(const RunMeasures& run, Findings* findings);
void MixedPrecisionOff(const RunMeasures& run, Findings* findings);
void UnalignedProducts(const RunMeasures& run, Findings* findings);
void UnfusedPointwise(const RunMeasures& run, Findings* findings);
void LayoutConversions(const RunMeasures& run, Findings* findings);
void CudnnBenchmarkOff(const RunMeasures& run, Findings* findings);
// settings_rules.cpp
void LaunchBlocking(const RunMeasures& run, Findings* findings);
void AnomalyDetection(const RunMeasures& run, Findings* findings);
void TooManyThreads(const RunMeasures& run, Findings* findings);
void MemoryUnderused(const RunMeasures& run, Findings* findings);
void ForeachOptimizerOnCpu(const RunMeasures& run, Findings* findings);

// Shares used by several rules ---------------------------------------------------------------

// Mean step of the main process that counts, ns; 0 without steps.
double MeanStepNs(const RunMeasures& run);
// Two runs of the same program differ by about half a percent of a step: a gain below is not seen.
bool CanBeSeen(const RunMeasures& run, double gain_ns);
// Share and mean time of a part of the GPU's breakdown; 0 without a GPU.
double GpuShare(const RunMeasures& run, GpuPart part);
double GpuPartNs(const RunMeasures& run, GpuPart part);
// Mean time of a step in which the GPU waits for the CPU to launch, ns.
double LaunchIdleNs(const RunMeasures& run);
// Of a gain of GPU time, what shortens the step: where the GPU idles because the CPU launches too
// slowly, faster kernels help only as long as the CPU waits for the GPU at all. (cpu_slack.cpp)
double WithinCpuSlack(const RunMeasures& run, double gain_ns);
// Share of a phase on the CPU side, 0 to 1.
double PhaseShareOf(const RunMeasures& run, PhaseKind kind);
// A setting of the training process; its helpers (compilers, loader workers) have their own.
std::string_view TrainingProperty(const RunMeasures& run, std::string_view key);
// Fewer blocks than the GPU has SMs.
bool HasSmallGrid(const KernelRow& kernel);
// torch.compile was used: by its module or by a kernel of Triton that it made.
bool IsCompiled(const RunMeasures& run);
// How much of the CPU's time the GPU hides nothing of: 1 without a GPU, else the idle share.
double CpuExposure(const RunMeasures& run);

}  // namespace batchlight::advice
