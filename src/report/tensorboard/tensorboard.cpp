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

// Field numbers of event.proto, summary.proto and tensor.proto.
constexpr uint32_t kEventWallTime = 1, kEventStep = 2, kEventFileVersion = 3, kEventSummary = 5;
constexpr uint32_t kSummaryValue = 1;
constexpr uint32_t kValueTag = 1, kValueSimple = 2, kValueTensor = 8, kValueMetadata = 9;
constexpr uint32_t kMetadataPluginData = 1, kPluginName = 1;
constexpr uint32_t kTensorDtype = 1, kTensorShape = 2, kTensorContent = 4, kTensorStrings = 8;
constexpr uint32_t kShapeDimension = 2, kDimensionSize = 1;
constexpr uint64_t kDtypeDouble = 2, kDtypeString = 7;

ProtobufMessage EventHead(double wall_time_s, int64_t step) {
  return ProtobufMessage()
      .Double(kEventWallTime, wall_time_s)
      .Number(kEventStep, static_cast<uint64_t>(step));
}

// The head of a TensorProto of this type and shape; without sizes it is a scalar.
ProtobufMessage TensorHead(uint64_t dtype, std::initializer_list<uint64_t> sizes) {
  ProtobufMessage shape;
  for (const uint64_t size : sizes) {
    shape.Message(kShapeDimension, ProtobufMessage().Number(kDimensionSize, size));
  }
  return ProtobufMessage().Number(kTensorDtype, dtype).Message(kTensorShape, shape);
}

// Four bytes of a PNG's header, which gives its width at 16 and its height at 20.
uint32_t BigEndian(std::string_view bytes, size_t at) {
  uint32_t value = 0;
  for (size_t i = at; i < at + 4 && i < bytes.size(); ++i) {
    value = (value << 8) | static_cast<uint8_t>(bytes[i]);
  }
  return value;
}

ProtobufMessage WithValue(ProtobufMessage event, const ProtobufMessage& value) {
  return event.Message(kEventSummary, ProtobufMessage().Message(kSummaryValue, value));
}

}  // namespace

uint32_t Crc32c(std::string_view bytes) {
  uint32_t crc = ~0u;
  for (const char c : bytes) crc = kCrcTable[(crc ^ static_cast<uint8_t>(c)) & 0xff] ^ (crc >> 8);
  return ~crc;
}

TensorBoardWriter::TensorBoardWriter(double wall_time_s) : wall_time_s_(wall_time_s) {
  AddEvent(EventHead(wall_time_s, 0).Bytes(kEventFileVersion, "brain.Event:2"));
}

void TensorBoardWriter::AddEvent(const ProtobufMessage& message) {
  const std::string& event = message.bytes();
  std::string length;
  AppendRaw(&length, static_cast<uint64_t>(event.size()));
  bytes_ += length;
  AppendRaw(&bytes_, MaskedCrc(length));
  bytes_ += event;
  AppendRaw(&bytes_, MaskedCrc(event));
}

void TensorBoardWriter::AddScalar(std::string_view tag, int64_t step, float value) {
  AddEvent(WithValue(EventHead(wall_time_s_, step),
                     ProtobufMessage().Bytes(kValueTag, tag).Float(kValueSimple, value)));
}

void TensorBoardWriter::AddText(std::string_view tag, std::string_view markdown) {
  AddTensor(tag, "text", TensorHead(kDtypeString, {}).Bytes(kTensorStrings, markdown));
}

// The images plugin takes a vector of strings: width, height, then pictures.
void TensorBoardWriter::AddImage(std::string_view tag, std::string_view png) {
  AddTensor(tag, "images",
            TensorHead(kDtypeString, {3})
                .Bytes(kTensorStrings, std::to_string(BigEndian(png, 16)))
                .Bytes(kTensorStrings, std::to_string(BigEndian(png, 20)))
                .Bytes(kTensorStrings, png));
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
  AddTensor(tag, "histograms",
            TensorHead(kDtypeDouble, {kHistogramBins, 3}).Bytes(kTensorContent, content));
}

void TensorBoardWriter::AddTensor(std::string_view tag, std::string_view plugin_name,
                                  const ProtobufMessage& tensor) {
  const ProtobufMessage plugin = ProtobufMessage().Bytes(kPluginName, plugin_name);
  AddEvent(WithValue(
      EventHead(wall_time_s_, 0),
      ProtobufMessage()
          .Bytes(kValueTag, tag)
          .Message(kValueTensor, tensor)
          .Message(kValueMetadata, ProtobufMessage().Message(kMetadataPluginData, plugin))));
}

std::string TensorBoardWriter::FileName(double wall_time_s, std::string_view host) {
  return "events.out.tfevents." + std::to_string(static_cast<int64_t>(wall_time_s)) + "." +
         (host.empty() ? "localhost" : std::string(host));
}

}  // namespace batchlight
