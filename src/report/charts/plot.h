// A picture of a table: bars, lines or a map of its values, as SVG or PNG (stats -f svg, -f png).
#pragma once

#include <string>

#include "analysis/result/row_source.h"
#include "base/status.h"

namespace batchlight {

enum class PictureFormat { kSvg, kPng };

// The bytes of the file. Which columns are drawn says rows.picture; rows with different values in
// its series column become lines, or rows of the map, of their own. Errors: kUsage for a table that
// has no picture, kInternal when the drawing library fails.
Result<std::string> RenderPlot(const RowSource& rows, PictureFormat format);

}  // namespace batchlight
