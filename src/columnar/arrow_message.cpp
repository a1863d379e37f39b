#include "columnar/arrow_message.h"

#include <utility>
#include <vector>

#include "columnar/field_facts.h"
#include "columnar/flat_buffer.h"

namespace batchlight {
namespace {

using Place = FlatBuffer::Place;

constexpr int64_t kVersion5 = 4;
constexpr int64_t kSchemaHeader = 1;
constexpr int64_t kBatchHeader = 3;
constexpr int64_t kZstd = 1;
constexpr int64_t kDoublePrecision = 2;
constexpr int64_t kNanosecond = 3;

enum TypeNumber : int64_t {
  kInt = 2,
  kFloatingPoint = 3,
  kBinary = 4,
  kUtf8 = 5,
  kBool = 6,
  kTimestamp = 10
};

std::pair<TypeNumber, Place> TypeOf(FlatBuffer& buffer, ColumnarType type) {
  switch (type) {
    case ColumnarType::kInteger:
      return {kInt, buffer.Table({FlatBuffer::Number(0, 4, 64), FlatBuffer::Number(1, 1, 1)})};
    case ColumnarType::kUnsigned:
      return {kInt, buffer.Table({FlatBuffer::Number(0, 4, 64)})};
    case ColumnarType::kReal:
      return {kFloatingPoint, buffer.Table({FlatBuffer::Number(0, 2, kDoublePrecision)})};
    case ColumnarType::kBool:
      return {kBool, buffer.Table({})};
    case ColumnarType::kText:
      return {kUtf8, buffer.Table({})};
    case ColumnarType::kBytes:
      return {kBinary, buffer.Table({})};
    case ColumnarType::kTimestampNs: {
      const Place zone = buffer.Text("UTC");
      return {kTimestamp,
              buffer.Table({FlatBuffer::Number(0, 2, kNanosecond), FlatBuffer::At(1, zone)})};
    }
  }
  return {kBinary, buffer.Table({})};
}

Place KeyValues(FlatBuffer& buffer, const std::vector<std::pair<std::string, std::string>>& facts) {
  std::vector<Place> places;
  for (const auto& [key, value] : facts) {
    const Place key_place = buffer.Text(key);
    const Place value_place = buffer.Text(value);
    places.push_back(buffer.Table({FlatBuffer::At(0, key_place), FlatBuffer::At(1, value_place)}));
  }
  return buffer.Places(places);
}

Place FieldOf(FlatBuffer& buffer, const ColumnarField& field) {
  const Place name = buffer.Text(field.name);
  const auto [number, type] = TypeOf(buffer, field.type);
  const Place children = buffer.Places({});
  std::vector<std::pair<std::string, std::string>> facts;
  if (!field.unit.empty()) facts.emplace_back("unit", field.unit);
  if (!field.help.empty()) facts.emplace_back("help", field.help);
  const Place known = KeyValues(buffer, facts);
  return buffer.Table({FlatBuffer::At(0, name), FlatBuffer::Number(1, 1, 1),
                       FlatBuffer::Number(2, 1, number), FlatBuffer::At(3, type),
                       FlatBuffer::At(5, children), FlatBuffer::At(6, known)});
}

Place SchemaOf(FlatBuffer& buffer, const ColumnarSchema& schema) {
  std::vector<Place> fields;
  for (const ColumnarField& field : schema.fields) fields.push_back(FieldOf(buffer, field));
  const Place list = buffer.Places(fields);
  const Place facts = KeyValues(buffer, FileFacts(schema));
  return buffer.Table({FlatBuffer::At(1, list), FlatBuffer::At(2, facts)});
}

std::string Message(FlatBuffer& buffer, int64_t kind, Place header, int64_t body_bytes) {
  return buffer.Finish(
      buffer.Table({FlatBuffer::Number(0, 2, kVersion5), FlatBuffer::Number(1, 1, kind),
                    FlatBuffer::At(2, header), FlatBuffer::Number(3, 8, body_bytes)}));
}

}  // namespace

std::string ArrowSchemaMessage(const ColumnarSchema& schema) {
  FlatBuffer buffer;
  return Message(buffer, kSchemaHeader, SchemaOf(buffer, schema), 0);
}

std::string ArrowBatchMessage(const ArrowLayout& layout) {
  FlatBuffer buffer;
  const Place compression = buffer.Table({FlatBuffer::Number(0, 1, kZstd)});
  const Place buffers = buffer.Structs(layout.buffers, 2);
  const Place nodes = buffer.Structs(layout.nodes, 2);
  const Place batch = buffer.Table({FlatBuffer::Number(0, 8, layout.rows), FlatBuffer::At(1, nodes),
                                    FlatBuffer::At(2, buffers), FlatBuffer::At(3, compression)});
  return Message(buffer, kBatchHeader, batch, layout.body_bytes);
}

std::string ArrowFooter(const ColumnarSchema& schema, std::span<const ArrowBlock> batches) {
  FlatBuffer buffer;
  std::vector<int64_t> blocks;
  for (const ArrowBlock& block : batches) {
    blocks.insert(blocks.end(), {block.offset, block.metadata_bytes, block.body_bytes});
  }
  const Place list = buffer.Structs(blocks, 3);
  const Place none = buffer.Structs({}, 3);
  const Place described = SchemaOf(buffer, schema);
  return buffer.Finish(
      buffer.Table({FlatBuffer::Number(0, 2, kVersion5), FlatBuffer::At(1, described),
                    FlatBuffer::At(2, none), FlatBuffer::At(3, list)}));
}

}  // namespace batchlight
