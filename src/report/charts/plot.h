// A picture of a table: bars, lines or a map of its values, as SVG or PNG (stats -f svg, -f png).
#pragma once

#include <string>

#include "analysis/result/row_source.h"
#include "base/status.h"

namespace batchlight {

enum class PictureFormat { kSvg, kPng };

// The bytes of the file. picture.h says which columns of the report named rows.name are drawn.
// Errors: kUsage for a report that has no picture, kInternal when the drawing library fails.
Result<std::string> RenderPlot(const RowSource& rows, PictureFormat format);

}  // namespace batchlight
