// TensorBoard event files, written by hand: only scalars, text, pictures and histograms are needed,
// and TensorFlow's own writer is a very large dependency.
//
// File: a row of records, each  u64 length | u32 masked CRC-32C of the length | bytes | u32 masked
// CRC-32C of the bytes; the bytes are an Event protobuf (tensorflow/core/util/event.proto). Mask:
// ((crc >> 15) | (crc << 17)) + 0xa282ead8 (tensorflow/core/lib/hash/crc32c.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/protobuf_message.h"

namespace batchlight {

class TensorBoardWriter {
 public:
  // `wall_time_s`: Unix time that every event carries.
  explicit TensorBoardWriter(double wall_time_s);

  void AddScalar(std::string_view tag, int64_t step, float value);
  // Markdown, shown under TEXT.
  void AddText(std::string_view tag, std::string_view markdown);
  // Shown under IMAGES. `png`: the bytes of a file.
  void AddImage(std::string_view tag, std::string_view png);
  // Shown under HISTOGRAMS and DISTRIBUTIONS: the values in kHistogramBins of equal width.
  void AddHistogram(std::string_view tag, const std::vector<double>& values);
  static constexpr size_t kHistogramBins = 30;

  // The whole file; its name should begin with FileName().
  const std::string& bytes() const { return bytes_; }
  // events.out.tfevents.<seconds>.<host>
  static std::string FileName(double wall_time_s, std::string_view host);

 private:
  void AddEvent(const ProtobufMessage& message);
  // A tensor (TensorProto) for the plugin of that name.
  void AddTensor(std::string_view tag, std::string_view plugin_name, const ProtobufMessage& tensor);

  double wall_time_s_;
  std::string bytes_;
};

// CRC-32C (Castagnoli), reflected, initial and final value ~0.
uint32_t Crc32c(std::string_view bytes);

}  // namespace batchlight
