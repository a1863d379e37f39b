// Gives each text of a column its row among the distinct ones.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "columnar/table_schema.h"

namespace batchlight {

class TextCodes {
 public:
  // `values` outlives this.
  explicit TextCodes(ColumnarValues& values) : values_(values) {}

  // Of a text that stays where it is until the batch is written.
  uint32_t CodeOf(std::string_view text);
  // Of one that does not.
  uint32_t CodeOfCopy(std::string_view text);

 private:
  ColumnarValues& values_;
  std::unordered_map<std::string_view, uint32_t> codes_;
};

// Makes texts that are not UTF-8 so: readers refuse whole files for one such name.
void MakeUtf8(ColumnarValues& values);

}  // namespace batchlight
