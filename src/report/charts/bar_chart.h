// A picture of horizontal bars with names, values and an axis, as PNG: the chart that goes into a
// README or a pull request.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"

namespace batchlight {

struct Bar {
  std::string name;  // any bytes; shortened in the middle if too long
  double value = 0;  // ns
  std::string note;  // behind the value: "25.3 %"
};

struct BarChart {
  std::string title;      // "Top 10 operators"
  std::string subtitle;   // which run, on what
  std::string measure;    // name of the axis, without unit: "self time per step"
  std::vector<Bar> bars;  // longest first
};

// The bytes of a PNG file, 1800 pixels wide. Errors: kInternal when the drawing library fails.
Result<std::string> RenderBarChart(const BarChart& chart);

}  // namespace batchlight
