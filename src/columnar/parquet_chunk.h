// One column of a row group of Parquet, as its pages.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"
#include "columnar/table_schema.h"
#include "columnar/thrift_struct.h"

namespace batchlight {

struct ParquetLimits {
  size_t page_bytes = size_t{1} << 20;        // of values in a page, about
  size_t dictionary_bytes = size_t{1} << 30;  // texts beyond it are written one after the other
  size_t text_bytes = (size_t{1} << 31) - (size_t{1} << 20);  // of one text: pages have 31 bits
};

struct ParquetChunk {
  std::string bytes;        // dictionary page, data pages
  int64_t plain_bytes = 0;  // of them without compression
  int64_t first_data = 0;   // where the data pages begin
  bool dictionary = false;  // there is one
  int64_t null_count = 0;
  std::string least, most;  // values as Parquet has them in statistics; "": not told
};

// Physical type of a column; enum Type of Parquet.
int32_t ParquetTypeOf(ColumnarType type);

// Every column may lack values. Errors (kOutput): a text that is too long.
Result<ParquetChunk> EncodeParquetChunk(const ColumnarField& field, const ColumnarValues& values,
                                        size_t rows, const ParquetLimits& limits = {});

}  // namespace batchlight
