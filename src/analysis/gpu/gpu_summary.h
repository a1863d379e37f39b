// The GPU's side of a run in numbers for people: kernels by name, copies by kind, calls that make
// the CPU wait.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/cuda/kernel_class.h"
#include "analysis/cuda/occupancy.h"
#include "analysis/gpu/gpu_breakdown.h"
#include "store/store.h"

namespace batchlight {

struct KernelRow {
  StringId name;        // demangled
  StringId short_name;  // without namespaces and template arguments
  uint64_t calls = 0;
  int64_t total_ns = 0;
  int64_t min_ns = 0;
  int64_t max_ns = 0;
  KernelClass kind;
  Occupancy occupancy;            // of its most frequent launch configuration
  KernelLaunchId launch;          // its most frequent configuration
  std::vector<uint32_t> streams;  // on which it ran, ascending; at most 16
  OperatorCallId owner;           // an operator call that launched it, or None
  double calls_per_step = 0;
  double graph_calls_per_step = 0;  // of these, as nodes of a CUDA graph: no launch of their own
  double per_step_ns = 0;
  double share = 0;  // of all GPU time of the steps that count (of the run without steps), 0 to 1

  double launches_per_step() const { return calls_per_step - graph_calls_per_step; }
  // Of the steps that count; of a kernel that ran in none of them, of the whole run.
  double average_ns() const {
    if (calls_per_step > 0) return per_step_ns / calls_per_step;
    return calls == 0 ? 0 : double(total_ns) / double(calls);
  }
};

struct CopyRow {
  CopyKind kind = CopyKind::kUnknown;
  MemoryKind source = MemoryKind::kUnknown;
  MemoryKind destination = MemoryKind::kUnknown;
  uint64_t calls = 0;
  uint64_t bytes = 0;
  int64_t total_ns = 0;
  double calls_per_step = 0;
  double bytes_per_step = 0;
  double per_step_ns = 0;

  double bytes_per_second() const {
    return total_ns == 0 ? 0 : double(bytes) * 1e9 / double(total_ns);
  }
};

// A runtime or driver call in which the CPU waits for the GPU.
struct WaitRow {
  StringId call;         // cudaStreamSynchronize
  OperatorCallId owner;  // an operator call around it: aten::_local_scalar_dense is .item()
  StringId operator_name;
  uint64_t calls = 0;
  int64_t total_ns = 0;
  double calls_per_step = 0;
  double per_step_ns = 0;
};

struct GpuSummary {
  std::vector<GpuBreakdown> breakdowns;  // per process, as the steps are, and device
  std::vector<KernelRow> kernels;        // by falling total time
  std::vector<CopyRow> copies;           // by falling total time
  std::vector<WaitRow> waits;            // by falling total time
  uint64_t kernel_count = 0;
  int64_t kernel_ns = 0;
  int64_t work_ns = 0;          // kernels, copies, sets, graphs
  double work_per_step_ns = 0;  // of those, what the steps that count launched, per step
  int64_t unattributed_ns = 0;  // of work_ns

  bool empty() const { return work_ns == 0; }
  const GpuBreakdown* MainBreakdown() const {
    return breakdowns.empty() ? nullptr : &breakdowns.front();
  }
};

}  // namespace batchlight
