// The metadata of Arrow's IPC: a schema, where the buffers of a batch lie, where the batches of a
// file lie. Numbers of slots are those of Schema.fbs, Message.fbs and File.fbs.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "columnar/table_schema.h"

namespace batchlight {

// Of one batch, in the order of the fields.
struct ArrowLayout {
  int64_t rows = 0;
  std::vector<int64_t> nodes;    // by field: rows, missing
  std::vector<int64_t> buffers;  // offset, bytes
  int64_t body_bytes = 0;
};

// A message within the file.
struct ArrowBlock {
  int64_t offset = 0;
  int64_t metadata_bytes = 0;
  int64_t body_bytes = 0;
};

std::string ArrowSchemaMessage(const ColumnarSchema& schema);
std::string ArrowBatchMessage(const ArrowLayout& layout);
std::string ArrowFooter(const ColumnarSchema& schema, std::span<const ArrowBlock> batches);

}  // namespace batchlight
