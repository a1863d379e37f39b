#include "report/tensorboard/tensorboard.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <initializer_list>

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
constexpr uint32_t kTensorDtype = 1, kTensorShape = 2, kTensorContent = 4, kTensorStrings = 8;
constexpr uint32_t kShapeDimension = 2, kDimensionSize = 1;
constexpr uint64_t kDtypeDouble = 2, kDtypeString = 7;

std::string EventHead(double wall_time_s, int64_t step) {
  std::string event;
  AppendVarint(&event, (kEventWallTime << 3) | 1);
  AppendRaw(&event, wall_time_s);
  AppendVarintField(&event, kEventStep, static_cast<uint64_t>(step));
  return event;
}

// The head of a TensorProto of this type and shape; no sizes: a scalar.
std::string TensorHead(uint64_t dtype, std::initializer_list<uint64_t> sizes) {
  std::string tensor, shape;
  for (const uint64_t size : sizes) {
    std::string dimension;
    AppendVarintField(&dimension, kDimensionSize, size);
    AppendBytesField(&shape, kShapeDimension, dimension);
  }
  AppendVarintField(&tensor, kTensorDtype, dtype);
  AppendBytesField(&tensor, kTensorShape, shape);
  return tensor;
}

// Four bytes of a PNG's header, which gives its width at 16 and its height at 20.
uint32_t BigEndian(std::string_view bytes, size_t at) {
  uint32_t value = 0;
  for (size_t i = at; i < at + 4 && i < bytes.size(); ++i) {
    value = (value << 8) | static_cast<uint8_t>(bytes[i]);
  }
  return value;
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
  std::string tensor = TensorHead(kDtypeString, {});
  AppendBytesField(&tensor, kTensorStrings, markdown);
  AddTensor(tag, "text", tensor);
}

// The images plugin takes a row of strings: width, height, then pictures.
void TensorBoardWriter::AddImage(std::string_view tag, std::string_view png) {
  std::string tensor = TensorHead(kDtypeString, {3});
  AppendBytesField(&tensor, kTensorStrings, std::to_string(BigEndian(png, 16)));
  AppendBytesField(&tensor, kTensorStrings, std::to_string(BigEndian(png, 20)));
  AppendBytesField(&tensor, kTensorStrings, png);
  AddTensor(tag, "images", tensor);
}

// The histograms plugin takes rows of left edge, right edge, count.
void TensorBoardWriter::AddHistogram(std::string_view tag, const std::vector<double>& values) {
  if (values.empty()) return;
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const double width = (*high - *low) / double(kHistogramBins);
  std::array<double, kHistogramBins> counts{};
  for (const double value : values) {
    const auto bin = width > 0 ? static_cast<size_t>((value - *low) / width) : 0;
    ++counts[std::min(bin, kHistogramBins - 1)];
  }
  std::string content;
  for (size_t bin = 0; bin < kHistogramBins; ++bin) {
    AppendRaw(&content, *low + width * double(bin));
    AppendRaw(&content, bin + 1 == kHistogramBins ? *high : *low + width * double(bin + 1));
    AppendRaw(&content, counts[bin]);
  }
  std::string tensor = TensorHead(kDtypeDouble, {kHistogramBins, 3});
  AppendBytesField(&tensor, kTensorContent, content);
  AddTensor(tag, "histograms", tensor);
}

void TensorBoardWriter::AddTensor(std::string_view tag, std::string_view plugin_name,
                                  std::string_view tensor) {
  std::string plugin, metadata, bytes;
  AppendBytesField(&plugin, kPluginName, plugin_name);
  AppendBytesField(&metadata, kMetadataPluginData, plugin);
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
