// Operators that look at a tensor's memory in another way, and compute nothing.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace batchlight {

// `name`: without "aten::".
inline bool IsViewOperator(std::string_view name) {
  static constexpr auto kViews = std::to_array<std::string_view>(
      {"view",      "reshape",    "transpose", "permute",   "t",       "select",  "slice", "narrow",
       "unsqueeze", "squeeze",    "expand",    "expand_as", "view_as", "unbind",  "split", "chunk",
       "flatten",   "as_strided", "unfold",    "detach",    "movedim", "numpy_T", "to"});
  return std::find(kViews.begin(), kViews.end(), name) != kViews.end();
}

}  // namespace batchlight
