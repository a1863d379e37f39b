// What `probe gpu` found on one host: read from the JSON that python/batchlight/_probe_gpu.py
// writes, with the data sheet's peaks beside it.
#pragma once

#include <string>
#include <vector>

#include "analysis/result/result_table.h"
#include "base/status.h"

namespace batchlight::probe {

struct GpuFigure {
  std::string host;
  std::string subject;  // "GPU 0", "GPU 0 to 1", "8 GPUs"
  std::string kind;     // name of the GPU, of links their kind: figures of one kind compare
  std::string measure;
  std::string unit;
  double value = 0;
  bool lower_is_better = false;
  double nominal = 0;  // of the data sheet, as MFU takes it; 0: none
};

struct GpuResult {
  std::string host;
  std::string versions;  // "PyTorch 2.11, CUDA 13.0, driver 580.65"
  std::vector<std::string> gpus;
  std::vector<GpuFigure> figures;
  std::vector<std::string> notes;
};

// Errors (kInput): not what `probe gpu -f json` wrote; `from` names it.
Result<GpuResult> ParseGpuResult(const std::string& from, const std::string& json);

// A figure that is worse than its like.
struct SlowFigure {
  GpuFigure figure;
  double typical = 0;
  double share = 0;  // of the speed that is typical, below 1
};

// GPUs and links of the same kind against each other, over all results: those that are slower than
// the median by more than 5 % (links and copies, which share ways, by more than 15 %). Slowest
// first.
std::vector<SlowFigure> FindSlow(const std::vector<GpuResult>& results);

// The figures of `now` that `before` has too and that became slower by as much.
std::vector<SlowFigure> FindSlower(const GpuResult& now, const GpuResult& before);

ResultTable GpuTable(const std::vector<GpuResult>& results);

// `before`: the stored result of --compare; nullptr: none.
std::string GpuText(const std::vector<GpuResult>& results, const GpuResult* before);

}  // namespace batchlight::probe
