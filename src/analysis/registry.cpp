#include "analysis/registry.h"

#include "analysis/overview_tables.h"

namespace batchlight {
namespace {

constexpr TableEntry kTables[] = {
    {"advice", "What to change, by estimated gain.", MakeAdviceTable},
    {"steps", "Every step of every training process with the time of each phase.", MakeStepsTable},
    {"phases", "What a step is made of: one row a phase.", MakePhasesTable},
    {"modules", "Every nn.Module as a tree: forward and backward time.", MakeModulesTable},
    {"attribution", "Model, modules, operators, kernels as one tree: CPU and GPU time of each.",
     MakeAttributionTable},
    {"operators", "Every operator by name.", MakeOperatorsTable},
    {"operators_by_shape", "Every operator by name and input shapes.", MakeOperatorShapesTable},
    {"key_averages", "Operators with the columns of torch.profiler's key_averages().",
     MakeKeyAveragesTable},
    {"key_averages_by_shape", "The same by name and input shapes.", MakeKeyAveragesByShapeTable},
    {"roofline", "Operators with the FLOPs and bytes they need, and how near the hardware's limit.",
     MakeRooflineTable},
    {"nvtx_ranges", "Every NVTX range by name.", MakeNvtxTable},
    {"gpu_parts", "What a step is made of on the GPU, idle time explained.", MakeGpuPartsTable},
    {"gpu_steps", "Every step's window on the GPU with the time of each part.", MakeGpuStepsTable},
    {"kernels", "Every kernel by name.", MakeKernelsTable},
    {"copies", "Copies by kind and memory.", MakeCopiesTable},
    {"waits", "Calls in which the CPU waits for the GPU.", MakeWaitsTable},
    {"launch_queue", "Every step's queue of launched work: latency, depth, how long it is empty.",
     MakeLaunchQueueTable},
    {"ranks", "Every rank's step: compute, communication, copies, idle, waiting for other ranks.",
     MakeRanksTable},
    {"collectives", "NCCL's operations by message size: time, waiting, bandwidth.",
     MakeCollectivesTable},
    {"processes", "Every process with how it ended.", MakeProcessesTable},
    {"losses", "What is missing from the recording and why.", MakeLossesTable},
};

}  // namespace

std::span<const TableEntry> OverviewTables() { return kTables; }

const TableEntry* FindOverviewTable(std::string_view name) {
  for (const TableEntry& entry : kTables) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

}  // namespace batchlight
