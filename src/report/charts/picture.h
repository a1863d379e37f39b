// Which columns of which reports are drawn, and how. Reports themselves know nothing of drawing.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace batchlight {

struct Picture {
  enum class Kind : uint8_t { kBars, kLine, kMap };
  std::string_view report;  // its name
  Kind kind;
  // Keys of columns.
  std::string_view x;             // place along the axis
  std::string_view value;         // height, or darkness
  std::string_view unit = {};     // rows that differ here are separate series; "": one series
  std::string_view process = {};  // distinguishes the units of several processes
};

std::span<const Picture> Pictures();

// nullptr if the report has none.
const Picture* PictureOf(std::string_view report);

}  // namespace batchlight
