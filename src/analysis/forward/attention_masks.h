// What masks attention is given, by the program's process: property "attention.masks", of a few
// steps, "24 24 0 0 1024 Bool 1x1x1024x1024": the calls of scaled_dot_product_attention; of these
// with a mask that is one for all samples and heads and causal; with one for all of which no rows
// were looked at; with any other mask; and of the first mask for all its positions, type and shape.
// What torch.compile has compiled, and is_causal=True, are calls without a mask.
#pragma once

#include <cstdint>
#include <string_view>

namespace batchlight {

struct AttentionMasks {
  uint64_t calls = 0;
  uint64_t causal = 0;
  uint64_t unknown = 0;
  uint64_t others = 0;
  uint64_t positions = 0;
  std::string_view type;   // "Bool", "BFloat16", as PyTorch names it
  std::string_view shape;  // "1x1x1024x1024"

  uint64_t masked() const { return causal + unknown + others; }
};

// All zero: nothing was said, or not in this way. Names point into `property`.
AttentionMasks ReadAttentionMasks(std::string_view property);

}  // namespace batchlight
