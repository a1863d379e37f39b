// Apache Parquet: row groups of columns, then a footer that says where they are. Texts have a
// dictionary where that is smaller, other values stand as they are; pages are compressed with
// Zstandard.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "columnar/columnar_file.h"
#include "columnar/parquet_chunk.h"
#include "columnar/thrift_struct.h"

namespace batchlight {

class ParquetFile : public ColumnarFile {
 public:
  ParquetFile(ColumnarSchema schema, ByteSink sink, const ParquetLimits& limits = {})
      : schema_(std::move(schema)), sink_(std::move(sink)), limits_(limits) {}

  Status Write(const ColumnarBatch& batch) override;
  Status Finish() override;

 private:
  Status Put(std::string_view bytes);
  ThriftStruct Describe(size_t column, const ParquetChunk& chunk, size_t rows) const;
  std::vector<ThriftStruct> SchemaElements() const;
  std::vector<ThriftStruct> Facts() const;

  ColumnarSchema schema_;
  ByteSink sink_;
  ParquetLimits limits_;
  int64_t offset_ = 0;
  int64_t rows_ = 0;
  std::vector<ThriftStruct> groups_;
};

}  // namespace batchlight
