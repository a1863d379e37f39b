#include "columnar/text_codes.h"

#include "base/json_text.h"

namespace batchlight {

uint32_t TextCodes::CodeOf(std::string_view text) {
  const auto [place, is_new] = codes_.emplace(text, static_cast<uint32_t>(values_.texts.size()));
  if (is_new) values_.texts.push_back(text);
  return place->second;
}

uint32_t TextCodes::CodeOfCopy(std::string_view text) {
  const auto known = codes_.find(text);
  return known != codes_.end() ? known->second : CodeOf(values_.kept.emplace_back(text));
}

void MakeUtf8(ColumnarValues& values) {
  for (std::string_view& text : values.texts) {
    if (!IsValidUtf8(text)) text = values.kept.emplace_back(ValidUtf8(text));
  }
}

}  // namespace batchlight
