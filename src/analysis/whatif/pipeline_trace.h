// What the workers of a pipeline did in some steps, operation by operation: the input of what-if
// questions. docs/ranks.md describes the file.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace batchlight {

// What an operation is, by the names that the file has for it.
enum class PipelineWork : uint8_t {
  kForwardCompute,
  kBackwardCompute,
  kForwardSend,
  kForwardReceive,
  kBackwardSend,
  kBackwardReceive,
  kParametersGather,
  kGradientsScatter,
  kSeparateGradients,
  kLayerNormGradients,
  kEmbeddingGradients,
  kGarbageCollection,
  kClipGradients,
  kOptimizer,
};
inline constexpr size_t kPipelineWorkCount = 14;

std::string_view PipelineWorkName(PipelineWork work);  // "forward-compute"

struct PipelineOperation {
  PipelineWork work = PipelineWork::kForwardCompute;
  int32_t replica = 0;  // data-parallel rank
  int32_t stage = 0;
  int32_t rank = 0;  // of the job
  int64_t step = 0;
  int32_t sequence = 0;     // among operations of its kind in the step on the worker, from 0
  int32_t chunk = 0;        // of the model within the stage
  int32_t model_chunk = 0;  // within the model
  double start_s = 0;
  double duration_s = 0;

  double end_s() const { return start_s + duration_s; }
};

// Whether text begins as such a file does.
bool IsPipelineTrace(std::string_view text);

// Errors (kInput): a column that is missing, or what is no number, with its line.
Result<std::vector<PipelineOperation>> ReadPipelineTrace(std::string_view text);

}  // namespace batchlight
