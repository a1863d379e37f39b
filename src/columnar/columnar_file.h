// A file of columns for other tools: Apache Parquet, or Apache Arrow's IPC file. Both are written
// from begin to end, so they can go to a pipe; what is kept meanwhile is one batch and the places
// of those before. Readers: DuckDB, pandas, Polars, Spark, whatever has an Arrow.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "base/status.h"
#include "columnar/table_schema.h"

namespace batchlight {

enum class ColumnarFormat : uint8_t { kParquet, kArrow };

// Receives the bytes in order.
using ByteSink = std::function<Status(std::string_view bytes)>;

// Rows that a batch should have: a row group of Parquet, a record batch of Arrow.
inline constexpr size_t kColumnarBatchRows = size_t{1} << 17;

class ColumnarFile {
 public:
  // The sink outlives the file.
  static std::unique_ptr<ColumnarFile> Create(ColumnarFormat format, ColumnarSchema schema,
                                              ByteSink sink);
  virtual ~ColumnarFile() = default;

  // Errors: those of the sink; kOutput for a text longer than a file can hold (2 GiB).
  virtual Status Write(const ColumnarBatch& batch) = 0;
  // What makes the file whole; nothing after it.
  virtual Status Finish() = 0;
};

// "parquet", also the extension without its dot.
std::string_view NameOf(ColumnarFormat format);

}  // namespace batchlight
