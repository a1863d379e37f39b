// What the operations of a pipeline's step wait for, after "Understanding Stragglers in Large Model
// Training Using What-if Analysis" (OSDI 2025): all steps and all data-parallel replicas do the
// same, so the first step of replica 0 shows the order, and which sends meet which receives.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/whatif/pipeline_trace.h"
#include "base/status.h"

namespace batchlight {

// One operation of a stage, in every step of every replica.
struct PipelineNode {
  PipelineWork work = PipelineWork::kForwardCompute;
  int32_t stage = 0;
  int32_t sequence = 0;
  int32_t group = -1;           // row of PipelineModel::groups; -1: it waits for no other rank
  std::vector<uint32_t> after;  // nodes that end before it starts
  std::vector<int32_t> rank;    // by replica
};

// Nodes that end together: a send and its receive, a collective over stages or replicas.
struct PipelineGroup {
  std::vector<uint32_t> nodes;
  bool all_replicas = false;
};

struct PipelineModel {
  std::vector<PipelineNode> nodes;
  std::vector<PipelineGroup> groups;
  std::vector<uint32_t> order;  // nodes, each after all that it waits for but its group
  int32_t stages = 0;
  int32_t replicas = 0;
  std::vector<int64_t> steps;
  // By node, then by step and replica: [step x replicas + replica].
  std::vector<std::vector<double>> start_s, end_s;

  size_t lanes() const { return steps.size() * static_cast<size_t>(replicas); }
};

// Errors (kInput): steps or replicas differ in what they do, or wait for each other in a circle.
Result<PipelineModel> BuildPipelineModel(std::span<const PipelineOperation> operations);

}  // namespace batchlight
