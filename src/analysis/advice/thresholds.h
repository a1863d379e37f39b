// The numbers that the advice rules use (thresholds.def), as constants and as text.
#pragma once

#include <string>
#include <string_view>

namespace batchlight::advice {

#define THRESHOLD(name, value, unit, meaning) inline constexpr double name = value;
#include "analysis/advice/thresholds.def"
#undef THRESHOLD

// "more than {kUnevenExcess} longer" -> "more than 5 % longer".
std::string FillThresholds(std::string_view text);

}  // namespace batchlight::advice
