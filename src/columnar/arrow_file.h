// Apache Arrow's IPC file (also known as Feather, version 2): a schema, record batches, a footer
// that says where they are. Buffers are compressed with Zstandard.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "columnar/arrow_message.h"
#include "columnar/columnar_file.h"

namespace batchlight {

struct ArrowLimits {
  size_t batch_text_bytes = size_t{1} << 28;  // of one column, about; offsets have 31 bits
  size_t text_bytes = (size_t{1} << 31) - (size_t{1} << 29);  // of one text
};

class ArrowFile : public ColumnarFile {
 public:
  ArrowFile(ColumnarSchema schema, ByteSink sink, const ArrowLimits& limits = {})
      : schema_(std::move(schema)), sink_(std::move(sink)), limits_(limits) {}

  Status Write(const ColumnarBatch& batch) override;
  Status Finish() override;

 private:
  Status Begin();
  Status Put(std::string_view bytes);
  // With the bytes that come before a message and fill it up.
  Status PutMessage(const std::string& metadata);
  Status WriteRows(const ColumnarBatch& batch, size_t begin, size_t end);

  ColumnarSchema schema_;
  ByteSink sink_;
  ArrowLimits limits_;
  int64_t offset_ = 0;
  std::vector<ArrowBlock> batches_;
};

}  // namespace batchlight
