// How values of a page are stored, by the numbers of parquet.thrift.
#pragma once

#include <cstdint>

namespace batchlight {

inline constexpr int32_t kPlain = 0;
inline constexpr int32_t kRle = 3;
inline constexpr int32_t kRleDictionary = 8;

}  // namespace batchlight
