#include "report/tensorboard.h"

#include <array>
#include <cstring>

namespace batchlight {
namespace {

constexpr std::array<uint32_t, 256> MakeCrcTable() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78u : 0);
    table[i] = crc;
  }
  return table;
}
constexpr std::array<uint32_t, 256> kCrcTable = MakeCrcTable();

uint32_t MaskedCrc(std::string_view bytes) {
  const uint32_t crc = Crc32c(bytes);
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

template <typename T>
void AppendRaw(std::string* out, T value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out->append(bytes, sizeof value);
}

// Protobuf wire format: key = field << 3 | type; 0 varint, 1 64 bit, 2 length-delimited, 5 32 bit.
void AppendVarint(std::string* out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out->push_back(static_cast<char>(value | 0x80));
  out->push_back(static_cast<char>(value));
}
void AppendVarintField(std::string* out, uint32_t field, uint64_t value) {
  AppendVarint(out, field << 3);
  AppendVarint(out, value);
}
void AppendBytesField(std::string* out, uint32_t field, std::string_view value) {
  AppendVarint(out, (field << 3) | 2);
  AppendVarint(out, value.size());
  out->append(value);
}

// Field numbers of event.proto, summary.proto and tensor.proto.
constexpr uint32_t kEventWallTime = 1, kEventStep = 2, kEventFileVersion = 3, kEventSummary = 5;
constexpr uint32_t kSummaryValue = 1;
constexpr uint32_t kValueTag = 1, kValueSimple = 2, kValueTensor = 8, kValueMetadata = 9;
constexpr uint32_t kMetadataPluginData = 1, kPluginName = 1;
constexpr uint32_t kTensorDtype = 1, kTensorStrings = 8, kTensorShape = 2, kDtypeString = 7;

std::string EventHead(double wall_time_s, int64_t step) {
  std::string event;
  AppendVarint(&event, (kEventWallTime << 3) | 1);
  AppendRaw(&event, wall_time_s);
  AppendVarintField(&event, kEventStep, static_cast<uint64_t>(step));
  return event;
}

std::string WithValue(std::string event, std::string_view value) {
  std::string summary;
  AppendBytesField(&summary, kSummaryValue, value);
  AppendBytesField(&event, kEventSummary, summary);
  return event;
}

}  // namespace

uint32_t Crc32c(std::string_view bytes) {
  uint32_t crc = ~0u;
  for (const char c : bytes) crc = kCrcTable[(crc ^ static_cast<uint8_t>(c)) & 0xff] ^ (crc >> 8);
  return ~crc;
}

TensorBoardWriter::TensorBoardWriter(double wall_time_s) : wall_time_s_(wall_time_s) {
  std::string event = EventHead(wall_time_s, 0);
  AppendBytesField(&event, kEventFileVersion, "brain.Event:2");
  AddEvent(event);
}

void TensorBoardWriter::AddEvent(std::string_view event) {
  std::string length;
  AppendRaw(&length, static_cast<uint64_t>(event.size()));
  bytes_ += length;
  AppendRaw(&bytes_, MaskedCrc(length));
  bytes_ += event;
  AppendRaw(&bytes_, MaskedCrc(event));
}

void TensorBoardWriter::AddScalar(std::string_view tag, int64_t step, float value) {
  std::string bytes;
  AppendBytesField(&bytes, kValueTag, tag);
  AppendVarint(&bytes, (kValueSimple << 3) | 5);
  AppendRaw(&bytes, value);
  AddEvent(WithValue(EventHead(wall_time_s_, step), bytes));
}

void TensorBoardWriter::AddText(std::string_view tag, std::string_view markdown) {
  std::string plugin, metadata, tensor, bytes;
  AppendBytesField(&plugin, kPluginName, "text");
  AppendBytesField(&metadata, kMetadataPluginData, plugin);
  AppendVarintField(&tensor, kTensorDtype, kDtypeString);
  AppendBytesField(&tensor, kTensorShape, "");  // a scalar
  AppendBytesField(&tensor, kTensorStrings, markdown);
  AppendBytesField(&bytes, kValueTag, tag);
  AppendBytesField(&bytes, kValueTensor, tensor);
  AppendBytesField(&bytes, kValueMetadata, metadata);
  AddEvent(WithValue(EventHead(wall_time_s_, 0), bytes));
}

std::string TensorBoardWriter::FileName(double wall_time_s, std::string_view host) {
  return "events.out.tfevents." + std::to_string(static_cast<int64_t>(wall_time_s)) + "." +
         (host.empty() ? "localhost" : std::string(host));
}

}  // namespace batchlight
