// Parameters that get gradients and are no optimizer's: a base model that was not frozen while
// adapters or a head learn. Said by the program's process: property "gradients.unheld", how many
// numbers they are and the paths of their modules, "*" for every number in it:
// "1100048384 model.layers.*.mlp, model.embed_tokens". A path stands for the modules below it, too.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "store/store.h"

namespace batchlight {

class UnheldParameters {
 public:
  UnheldParameters(const Store& store, ProcessId process);

  bool empty() const { return paths_.empty(); }
  uint64_t numbers() const { return numbers_; }
  const std::vector<std::string_view>& paths() const { return paths_; }  // as they were said
  bool Holds(StringId module);

 private:
  const Store& store_;
  uint64_t numbers_ = 0;
  std::vector<std::string_view> paths_;
  std::unordered_map<uint32_t, bool> known_;  // by StringId of a module's path
};

// How much of a backward function's time its weight's gradient takes: half of a product or a
// convolution, which makes the input's gradient in the other half; all of an embedding's and of
// what adds a gradient to its parameter's. 0 for others. "MmBackward0", "AddmmBackward0",
// "ConvolutionBackward0", "EmbeddingBackward0", also behind "evaluate_function: ".
double WeightGradientShare(std::string_view function);

// "1.1 billion", "86 million", "12 thousand", "64".
std::string NumbersText(uint64_t numbers);

}  // namespace batchlight
