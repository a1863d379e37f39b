#include "columnar/parquet_file.h"

#include <optional>

#include "base/thread_pool.h"
#include "columnar/field_facts.h"
#include "columnar/parquet_encoding.h"

namespace batchlight {
namespace {

constexpr std::string_view kParquetMagic = "PAR1";

// Numbers of parquet.thrift.
constexpr int32_t kCodecZstd = 6;
constexpr int32_t kOptional = 1;
constexpr int32_t kConvertedUtf8 = 0;
constexpr int32_t kConvertedUnsigned64 = 14;
constexpr int kLogicalString = 1;
constexpr int kLogicalTimestamp = 8;
constexpr int kLogicalInteger = 10;
constexpr int kNanoseconds = 3;

ThriftStruct ElementOf(const ColumnarField& field) {
  ThriftStruct element;
  element.Int32(1, ParquetTypeOf(field.type)).Int32(3, kOptional).Text(4, field.name);
  switch (field.type) {
    case ColumnarType::kText:
      element.Int32(6, kConvertedUtf8);
      element.Struct(10, ThriftStruct().Struct(kLogicalString, {}));
      break;
    case ColumnarType::kUnsigned:
      element.Int32(6, kConvertedUnsigned64);
      element.Struct(
          10, ThriftStruct().Struct(kLogicalInteger, ThriftStruct().Byte(1, 64).Bool(2, false)));
      break;
    case ColumnarType::kTimestampNs:
      element.Struct(10, ThriftStruct().Struct(kLogicalTimestamp,
                                               ThriftStruct().Bool(1, true).Struct(
                                                   2, ThriftStruct().Struct(kNanoseconds, {}))));
      break;
    default:
      break;
  }
  return element;
}

}  // namespace

Status ParquetFile::Put(std::string_view bytes) {
  offset_ += static_cast<int64_t>(bytes.size());
  return sink_(bytes);
}

ThriftStruct ParquetFile::Describe(size_t column, const ParquetChunk& chunk, size_t rows) const {
  const ColumnarField& field = schema_.fields[column];
  ThriftStruct statistics;
  statistics.Int64(3, chunk.null_count);
  if (!chunk.least.empty()) statistics.Text(5, chunk.most).Text(6, chunk.least);
  ThriftStruct about;
  about.Int32(1, ParquetTypeOf(field.type))
      .Int32s(2, chunk.dictionary ? std::vector<int32_t>{kPlain, kRle, kRleDictionary}
                                  : std::vector<int32_t>{kPlain, kRle})
      .Texts(3, {field.name})
      .Int32(4, kCodecZstd)
      .Int64(5, static_cast<int64_t>(rows))
      .Int64(6, chunk.plain_bytes)
      .Int64(7, static_cast<int64_t>(chunk.bytes.size()))
      .Int64(9, offset_ + chunk.first_data);
  if (chunk.dictionary) about.Int64(11, offset_);
  about.Struct(12, statistics);
  return ThriftStruct().Int64(2, offset_).Struct(3, about);
}

Status ParquetFile::Write(const ColumnarBatch& batch) {
  if (offset_ == 0) RETURN_IF_ERROR(Put(kParquetMagic));
  if (batch.rows == 0) return {};
  std::vector<std::optional<Result<ParquetChunk>>> chunks(schema_.fields.size());
  ParallelFor(chunks.size(), [&](size_t i) {
    chunks[i].emplace(EncodeParquetChunk(schema_.fields[i], batch.columns[i], batch.rows, limits_));
  });
  const int64_t begin = offset_;
  int64_t plain_bytes = 0;
  std::vector<ThriftStruct> columns;
  for (size_t i = 0; i < chunks.size(); ++i) {
    RETURN_IF_ERROR(chunks[i]->status());
    const ParquetChunk& chunk = chunks[i]->value();
    columns.push_back(Describe(i, chunk, batch.rows));
    plain_bytes += chunk.plain_bytes;
    RETURN_IF_ERROR(Put(chunk.bytes));
    chunks[i].reset();
  }
  groups_.push_back(ThriftStruct()
                        .Structs(1, columns)
                        .Int64(2, plain_bytes)
                        .Int64(3, static_cast<int64_t>(batch.rows))
                        .Int64(5, begin)
                        .Int64(6, offset_ - begin));
  rows_ += static_cast<int64_t>(batch.rows);
  return {};
}

std::vector<ThriftStruct> ParquetFile::SchemaElements() const {
  std::vector<ThriftStruct> elements;
  elements.push_back(
      ThriftStruct().Text(4, "schema").Int32(5, static_cast<int64_t>(schema_.fields.size())));
  for (const ColumnarField& field : schema_.fields) elements.push_back(ElementOf(field));
  return elements;
}

std::vector<ThriftStruct> ParquetFile::Facts() const {
  std::vector<ThriftStruct> facts;
  for (const auto& [key, value] : FileFacts(schema_)) {
    facts.push_back(ThriftStruct().Text(1, key).Text(2, value));
  }
  facts.push_back(
      ThriftStruct().Text(1, "batchlight.columns").Text(2, FieldsAsJson(schema_.fields)));
  return facts;
}

Status ParquetFile::Finish() {
  if (offset_ == 0) RETURN_IF_ERROR(Put(kParquetMagic));
  // The order of values in statistics is that of their type.
  const std::vector<ThriftStruct> orders(schema_.fields.size(), ThriftStruct().Struct(1, {}));
  std::string footer = ThriftStruct()
                           .Int32(1, 2)
                           .Structs(2, SchemaElements())
                           .Int64(3, rows_)
                           .Structs(4, groups_)
                           .Structs(5, Facts())
                           .Text(6, "batchlight")
                           .Structs(7, orders)
                           .Encoded();
  const auto size = static_cast<uint32_t>(footer.size());
  footer.append(reinterpret_cast<const char*>(&size), sizeof size);
  return Put(footer += kParquetMagic);
}

}  // namespace batchlight
