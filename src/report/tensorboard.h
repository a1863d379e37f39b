// TensorBoard event files, written by hand: a scalar per step and a table as text are all that is
// needed, and TensorFlow's own writer is a very large dependency.
//
// File: a row of records, each  u64 length | u32 masked CRC-32C of the length | bytes | u32 masked
// CRC-32C of the bytes; the bytes are an Event protobuf (tensorflow/core/util/event.proto). Mask:
// ((crc >> 15) | (crc << 17)) + 0xa282ead8 (tensorflow/core/lib/hash/crc32c.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace batchlight {

class TensorBoardWriter {
 public:
  // `wall_time_s`: Unix time that every event carries.
  explicit TensorBoardWriter(double wall_time_s);

  void AddScalar(std::string_view tag, int64_t step, float value);
  // Markdown, shown under TEXT.
  void AddText(std::string_view tag, std::string_view markdown);

  // The whole file; its name should begin with FileName().
  const std::string& bytes() const { return bytes_; }
  // events.out.tfevents.<seconds>.<host>
  static std::string FileName(double wall_time_s, std::string_view host);

 private:
  void AddEvent(std::string_view event);

  double wall_time_s_;
  std::string bytes_;
};

// CRC-32C (Castagnoli), reflected, initial and final value ~0.
uint32_t Crc32c(std::string_view bytes);

}  // namespace batchlight
