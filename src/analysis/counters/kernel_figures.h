// What the counters of single kernels say: for each kernel how near every part of the GPU came to
// its limit, what therefore bounds it, and what to do.
//
//   a level's use     = its .pct_of_peak_sustained_elapsed, the launches weighted by their time
//   compute           = the busiest of tensor, FMA, ALU, XU and FP64 pipe and of issuing
//   memory            = the busiest of DRAM, L2 and L1 with shared memory
//   bound             = the greater of both from 60 % on; within 10 points of each other they are
//                       balanced; below 60 % the kernel waits, or has too few blocks (waves < 1)
//   DRAM GB/s         = (read + written) / time of the same pass; hit rates as counted
//   sectors a request = sectors / requests; 4 are ideal for 4 bytes a thread, side by side
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/counters/kernel_roofline.h"
#include "analysis/counters/measured_kernels.h"
#include "analysis/cuda/kernel_class.h"
#include "analysis/cuda/occupancy.h"
#include "analysis/owners/attribution.h"
#include "analysis/owners/backward_links.h"
#include "analysis/stalls/stall_profile.h"

namespace batchlight {

enum class GpuLimit : uint8_t { kTensor, kFma, kAlu, kXu, kFp64, kIssue, kDram, kL2, kL1, kCount };

enum class KernelBound : uint8_t {
  kUnknown,  // what would tell was not read
  kCompute,
  kMemory,
  kBalanced,
  kLatency,
  kSmallGrid,
  kCommunication,  // waits for other GPUs
};

struct StallShare {
  std::string_view title;  // "Wait: memory"
  double cycles = 0;       // per issued instruction of a warp
};

// A kernel with its launch configuration and the operator that launches it, or one launch alone.
struct KernelFigures {
  ProcessId process;
  uint32_t device = 0;
  bool is_graph = false;
  StringId name;          // demangled; None: a graph
  KernelLaunchId launch;  // None: a graph
  size_t row = 0;         // of the first, as MeasuredKernel's
  uint32_t number = 0;    // its place in the report, from 1: the same in every table of it
  WorkOwner owner;        // of the first
  PythonFrameId line;     // of Python, that launched the first; None: not recorded
  uint64_t launches = 0;  // in a step
  double time_ns = 0;     // of one, mean
  double share = 0;       // of the time of all that was measured in its process, 0 to 1
  double spread = 0;      // (most - least) / mean of a launch over the passes, mean of the launches
  KernelClass kernel_class;
  Occupancy theoretical;

  // 0 to 1, of a limit; nothing where it was not read.
  std::array<std::optional<double>, size_t(GpuLimit::kCount)> use;
  std::optional<double> compute;  // the greatest of those of computing
  std::optional<double> memory;
  GpuLimit compute_limit = GpuLimit::kIssue;  // that it is of
  GpuLimit memory_limit = GpuLimit::kDram;
  KernelBound bound = KernelBound::kUnknown;

  std::optional<double> clock_hz;
  std::optional<double> occupancy;  // achieved, 0 to 1
  std::optional<double> issue_active;
  std::optional<double> dram_read_bytes;  // of one launch
  std::optional<double> dram_written_bytes;
  std::optional<double> dram_gbps;
  std::optional<double> l1_hit;
  std::optional<double> l2_hit;
  std::optional<double> sectors_per_load;   // global
  std::optional<double> sectors_per_store;  // global
  std::optional<double> bank_conflicts;     // share of the wavefronts of shared memory
  std::optional<double> tensor_operations;  // of one launch, all types
  KernelRoofline roofline;
  std::vector<StallShare> stalls;  // by falling cycles; empty: not read
  std::string memory_line;  // of its source, where most samples wait for memory; "": not known
  std::vector<std::pair<StringId, double>> values;  // all, of one launch

  std::optional<double> Use(GpuLimit limit) const { return use[size_t(limit)]; }
};

struct KernelChoice {
  std::function<bool(std::string_view name)> wanted;  // by demangled name; empty: all
  bool each_launch = false;  // else launches of one configuration and operator are summed up
  int32_t rank = -1;         // of this rank alone; -1: all
};

struct KernelReport {
  std::vector<KernelFigures> kernels;  // by falling time of all launches; each launch: as they ran
  uint32_t steps = 0;
  uint32_t steps_unmatched = 0;
  uint32_t replays_unmatched = 0;
  uint64_t incomplete = 0;
};

// Empty where no kernels were measured.
KernelReport ReportKernels(const Store& store, const BackwardLinks& links, const Attribution& work,
                           const KernelChoice& choice = {});
// Where instructions were sampled too: gives kernels their `memory_line`.
void NameMemoryLines(const StallProfile& profile, const Store& store, KernelReport* report);

// "train.py:42", the line of Python that launched it; "": not recorded.
std::string LaunchLineText(const Store& store, const KernelFigures& kernel);
std::string_view BoundName(KernelBound bound);  // "memory", "latency"
std::string_view LimitName(GpuLimit limit);     // "DRAM", "tensor pipe"
// What limits it and what to do, in one or two sentences.
std::string AdviceFor(const KernelFigures& kernel);
// What its place under its roofs means and what to do; "": its operations were not counted, or
// nothing says how many there could be.
std::string RooflineAdvice(const KernelFigures& kernel);

}  // namespace batchlight
