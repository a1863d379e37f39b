#include "analysis/forward/attention_masks.h"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace batchlight {
namespace {

// The next word, which is taken off the text.
std::string_view TakeWord(std::string_view& text) {
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(std::min(text.size(), word.size() + 1));
  return word;
}

}  // namespace

AttentionMasks ReadAttentionMasks(std::string_view property) {
  AttentionMasks masks;
  for (uint64_t* number :
       {&masks.calls, &masks.causal, &masks.unknown, &masks.others, &masks.positions}) {
    const std::string_view word = TakeWord(property);
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), *number);
    if (error != std::errc() || end != word.data() + word.size()) return {};
  }
  masks.type = TakeWord(property);
  masks.shape = TakeWord(property);
  return masks.shape.empty() ? AttentionMasks() : masks;
}

}  // namespace batchlight
