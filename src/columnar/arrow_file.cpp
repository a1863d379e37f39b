#include "columnar/arrow_file.h"

#include <algorithm>

#include "base/thread_pool.h"
#include "columnar/arrow_buffers.h"

namespace batchlight {
namespace {

constexpr std::string_view kArrowMagic = "ARROW1";
constexpr size_t kAlignment = 8;
constexpr uint32_t kContinuation = UINT32_MAX;  // before every message

size_t Padding(size_t bytes) { return (kAlignment - bytes % kAlignment) % kAlignment; }

std::string Number(uint32_t value) { return {reinterpret_cast<const char*>(&value), sizeof value}; }

Status CheckTexts(const ColumnarSchema& schema, const ColumnarBatch& batch, size_t limit) {
  for (size_t i = 0; i < schema.fields.size(); ++i) {
    for (const std::string_view text : batch.columns[i].texts) {
      if (text.size() <= limit) continue;
      return OutputError("a text of " + std::to_string(text.size()) + " bytes in column " +
                         schema.fields[i].name +
                         " is longer than Arrow's offsets; leave its table out with --tables");
    }
  }
  return {};
}

}  // namespace

Status ArrowFile::Put(std::string_view bytes) {
  offset_ += static_cast<int64_t>(bytes.size());
  return sink_(bytes);
}

Status ArrowFile::PutMessage(const std::string& metadata) {
  return Put(Number(kContinuation) + Number(static_cast<uint32_t>(metadata.size())) + metadata);
}

Status ArrowFile::Begin() {
  if (offset_ > 0) return {};
  RETURN_IF_ERROR(Put(std::string(kArrowMagic) + std::string(2, '\0')));
  return PutMessage(ArrowSchemaMessage(schema_));
}

Status ArrowFile::Write(const ColumnarBatch& batch) {
  RETURN_IF_ERROR(Begin());
  RETURN_IF_ERROR(CheckTexts(schema_, batch, limits_.text_bytes));
  for (size_t begin = 0; begin < batch.rows;) {
    size_t end = batch.rows;
    for (const ColumnarValues& column : batch.columns) {
      end = EndOfTexts(column, begin, end, limits_.batch_text_bytes);
    }
    RETURN_IF_ERROR(WriteRows(batch, begin, end));
    begin = end;
  }
  return {};
}

Status ArrowFile::WriteRows(const ColumnarBatch& batch, size_t begin, size_t end) {
  std::vector<ArrowColumn> columns(schema_.fields.size());
  ParallelFor(columns.size(), [&](size_t i) {
    columns[i] = ArrowColumnOf(schema_.fields[i].type, batch.columns[i], begin, end);
  });
  ArrowLayout layout{.rows = static_cast<int64_t>(end - begin), .nodes = {}, .buffers = {}};
  for (const ArrowColumn& column : columns) {
    layout.nodes.insert(layout.nodes.end(), {layout.rows, column.null_count});
    for (const std::string& buffer : column.buffers) {
      layout.buffers.insert(layout.buffers.end(),
                            {layout.body_bytes, static_cast<int64_t>(buffer.size())});
      layout.body_bytes += static_cast<int64_t>(buffer.size() + Padding(buffer.size()));
    }
  }
  ArrowBlock block{.offset = offset_, .body_bytes = layout.body_bytes};
  RETURN_IF_ERROR(PutMessage(ArrowBatchMessage(layout)));
  block.metadata_bytes = offset_ - block.offset;
  batches_.push_back(block);
  for (ArrowColumn& column : columns) {
    for (std::string& buffer : column.buffers) {
      buffer.append(Padding(buffer.size()), '\0');
      RETURN_IF_ERROR(Put(buffer));
    }
    column = {};
  }
  return {};
}

Status ArrowFile::Finish() {
  RETURN_IF_ERROR(Begin());
  RETURN_IF_ERROR(PutMessage({}));  // the end of the batches
  const std::string footer = ArrowFooter(schema_, batches_);
  return Put(footer + Number(static_cast<uint32_t>(footer.size())) + std::string(kArrowMagic));
}

}  // namespace batchlight
