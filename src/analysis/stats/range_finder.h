// Which NVTX ranges a CUDA call, and with it the GPU work that it launched, belongs to: the ranges
// on its own thread that enclose it entirely.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "analysis/stats/stats_report.h"

namespace batchlight::stats {

// One piece of GPU work with a call that launched it.
struct GpuWork {
  enum class Kind : uint8_t { kKernel, kMemcpy, kMemset, kGraph };
  Kind kind;
  uint32_t row;  // in the table of its kind
  ApiCallId call;
  int64_t start_ns;
  int64_t end_ns;
};

// All GPU work in the window whose call is known and in the window too, in the order of the calls.
// `kernels_only` leaves copies, sets and graphs out.
std::vector<GpuWork> LaunchedWork(const Query& query, bool kernels_only);

// Kernels, once for each call that the input has for them: nsys's exports with CUDA backtraces hold
// calls twice, and --nsys-compat keeps both.
std::vector<GpuWork> KernelsWithEveryCall(const Query& query);

// Calls visit(index into work, rows of nvtx_ranges that enclose its call, outermost first, the
// innermost kMostLevels of them), in the order of `work`. Ranges that end on another thread are
// left out; ranges still open end at the last moment of any range.
void VisitEnclosingRanges(
    const Query& query, std::span<const GpuWork> work,
    const std::function<void(size_t work_index, std::span<const uint32_t> ranges)>& visit);

// Innermost range around the call of each kernel, UINT32_MAX for none. By kernel row.
std::vector<uint32_t> InnermostRanges(const Query& query);

}  // namespace batchlight::stats
