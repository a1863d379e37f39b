// A run seen the way DLProf saw it: op nodes, their kernels, iterations, an aggregation range.
//
//   op node    a type of operator at one place of the model: module path and operator name, forward
//              or backward; its instances are the outermost operator calls. Where no operators were
//              recorded, modules and traced calls of the loop are the op nodes; without modules, or
//              if a domain was asked for, NVTX ranges are. GPU work that none of them launched
//              belongs to the module or traced call around its launch, else to kNoOpName. A domain
//              has no such work: it is about its ranges only.
//   iteration  a step (analysis/steps/steps.h), or what ends with each end of the key node.
//   range      iterations first..last, as asked for, or the steps that count; reports leave out
//              instances that start outside of it. If
//              the run has no such iterations, or no such key node, `notice` says so and the
//              reports are about the whole run (with the steps found without the key).
//
// Times of an instance: CPU time = its length; GPU time = summed kernels, copies and sets launched
// inside; CPU overhead = time inside CUDA API calls; GPU idle = last end - first start of its work
// minus GPU time, at least 0.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/overview/run_overview.h"
#include "base/status.h"

namespace batchlight::dlprof {

inline constexpr std::string_view kNoOpName = "outside of all ops";

struct ModelOptions {
  bool simple = false;  // --mode=simple: everything under one op, an instance for each iteration
  int64_t first_iteration = 0;
  int64_t last_iteration = INT64_MAX;
  std::string domain;  // "" = operators, else the NVTX domain of that name
  bool use_domain = false;
};

struct Spread {  // over the instances of an op node
  int64_t total_ns = 0;
  int64_t min_ns = 0;
  int64_t max_ns = 0;
  uint64_t count = 0;
  void Add(int64_t value_ns);
  double average_ns() const { return count == 0 ? 0 : double(total_ns) / double(count); }
};

struct OpNode {
  std::string name;       // encoder.layers.0.linear1/aten::linear
  std::string type;       // aten::linear
  std::string direction;  // fprop, bprop
  std::string group;      // module path
  std::string data_type;  // of its first tensor input; "" unknown
  bool eligible = false;  // Tensor Cores could run it
  bool uses_tensor_cores = false;
  Spread cpu, gpu, overhead, idle;
  int64_t tensor_core_ns = 0;
  uint64_t kernel_count = 0;
  uint64_t tensor_core_kernel_count = 0;
  std::vector<std::string> tensor_core_kernels;  // distinct names
  std::vector<std::string> other_kernels;
};

struct KernelInstance {
  uint32_t kernel = 0;     // row of Store::kernels
  uint32_t op = 0;         // row of Model::ops
  uint32_t iteration = 0;  // number of the iteration
  bool tensor_core = false;
};

struct Iteration {
  int64_t number = 0;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  bool inside = false;  // of the aggregation range, and counts
};

struct Model {
  std::vector<OpNode> ops;              // by falling GPU time, then CPU time
  std::vector<KernelInstance> kernels;  // inside the range, by start
  std::vector<Iteration> iterations;
  int64_t first_iteration = 0;
  int64_t last_iteration = 0;
  int64_t counted_iterations = 0;
  int64_t range_ns = 0;         // summed length of the iterations inside
  int64_t gpu_busy_ns = 0;      // union of all work inside, of all devices
  int64_t memory_ns = 0;        // copies and sets
  int64_t graph_ns = 0;         // CUDA graphs recorded as a whole
  int64_t data_loading_ns = 0;  // waiting for the DataLoader inside the range
  std::string notice;           // for people: what was asked for and is not there
};

// Iterations are the steps of the overview, so a key node is asked for there. Errors (kUsage): a
// domain that is not there, with those that are.
Result<Model> BuildModel(const RunOverview& overview, const ModelOptions& options);

}  // namespace batchlight::dlprof
