#include "analysis/forward/attention_masks.h"

#include "base/split.h"

namespace batchlight {

AttentionMasks ReadAttentionMasks(std::string_view property) {
  AttentionMasks masks;
  for (uint64_t* number :
       {&masks.calls, &masks.causal, &masks.unknown, &masks.others, &masks.positions}) {
    if (!ReadNumber(TakeWord(property), *number)) return {};
  }
  masks.type = TakeWord(property);
  masks.shape = TakeWord(property);
  return masks.shape.empty() ? AttentionMasks() : masks;
}

}  // namespace batchlight
