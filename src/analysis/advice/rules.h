// The rules by group; registry.cpp lists them.
#pragma once

#include <vector>

#include "analysis/advice/advice.h"

namespace batchlight::advice {

using Findings = std::vector<Finding>;

// step_rules.cpp
void NoSteps(const RunOverview& overview, Findings* findings);
void UnevenSteps(const RunOverview& overview, Findings* findings);
void CheckpointInStep(const RunOverview& overview, Findings* findings);
void Recompilation(const RunOverview& overview, Findings* findings);
// data_rules.cpp
void DataLoaderWait(const RunOverview& overview, Findings* findings);
void DataLoaderRestart(const RunOverview& overview, Findings* findings);
// gpu_rules.cpp
void GpuUnderused(const RunOverview& overview, Findings* findings);
void LaunchBound(const RunOverview& overview, Findings* findings);
void SmallKernels(const RunOverview& overview, Findings* findings);
void UnfusedOptimizer(const RunOverview& overview, Findings* findings);
void ExposedCommunication(const RunOverview& overview, Findings* findings);
void GridTooSmall(const RunOverview& overview, Findings* findings);
// stream_rules.cpp
void SerializedStreams(const RunOverview& overview, Findings* findings);
// transfer_rules.cpp
void HostSynchronization(const RunOverview& overview, Findings* findings);
void PageableCopies(const RunOverview& overview, Findings* findings);
void ExposedCopies(const RunOverview& overview, Findings* findings);
void AllocatorRetries(const RunOverview& overview, Findings* findings);
// compute_rules.cpp
void Tf32Off(const RunOverview& overview, Findings* findings);
void MixedPrecisionOff(const RunOverview& overview, Findings* findings);
void UnalignedProducts(const RunOverview& overview, Findings* findings);
void UnfusedPointwise(const RunOverview& overview, Findings* findings);
void LayoutConversions(const RunOverview& overview, Findings* findings);
void CudnnBenchmarkOff(const RunOverview& overview, Findings* findings);
// settings_rules.cpp
void LaunchBlocking(const RunOverview& overview, Findings* findings);
void AnomalyDetection(const RunOverview& overview, Findings* findings);
void TooManyThreads(const RunOverview& overview, Findings* findings);
void MemoryUnderused(const RunOverview& overview, Findings* findings);
void ForeachOptimizerOnCpu(const RunOverview& overview, Findings* findings);

// Shares used by several rules ---------------------------------------------------------------

// Mean step of the main process that counts, ns; 0 without steps.
double MeanStepNs(const RunOverview& overview);
// Two runs of the same program differ by about half a percent of a step: a gain below is not seen.
bool CanBeSeen(const RunOverview& overview, double gain_ns);
// Share and mean time of a part of the GPU's breakdown; 0 without a GPU.
double GpuShare(const RunOverview& overview, GpuPart part);
double GpuPartNs(const RunOverview& overview, GpuPart part);
// Mean time of a step in which the GPU waits for the CPU to launch, ns.
double LaunchIdleNs(const RunOverview& overview);
// Of a gain of GPU time, what shortens the step: where the GPU idles because the CPU launches too
// slowly, faster kernels help only as long as the CPU waits for the GPU at all. (cpu_slack.cpp)
double WithinCpuSlack(const RunOverview& overview, double gain_ns);
// Share of a phase on the CPU side, 0 to 1.
double PhaseShareOf(const RunOverview& overview, PhaseKind kind);
// A setting of the training process; its helpers (compilers, loader workers) have their own.
std::string_view TrainingProperty(const RunOverview& overview, std::string_view key);
// Fewer blocks than the GPU has SMs.
bool HasSmallGrid(const KernelRow& kernel);
// torch.compile was used: by its module or by a kernel of Triton that it made.
bool IsCompiled(const RunOverview& overview);
// How much of the CPU's time the GPU hides nothing of: 1 without a GPU, else the idle share.
double CpuExposure(const RunOverview& overview);

}  // namespace batchlight::advice
