// Rows of a column as the buffers that Arrow keeps of it: which values are there, offsets of texts,
// values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "columnar/table_schema.h"

namespace batchlight {

struct ArrowColumn {
  int64_t null_count = 0;
  std::vector<std::string> buffers;  // compressed, each with its size before; "": an empty one
};

ArrowColumn ArrowColumnOf(ColumnarType type, const ColumnarValues& values, size_t begin,
                          size_t end);

// Where a batch from `begin` on has to end for its texts to be at most `bytes`: one row at least.
size_t EndOfTexts(const ColumnarValues& values, size_t begin, size_t end, size_t bytes);

}  // namespace batchlight
