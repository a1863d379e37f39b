// What a plot is drawn on: the same few shapes as SVG text or, through Cairo, as a PNG.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"

namespace batchlight {

struct Rgb {
  double red, green, blue;  // 0 to 1
};
enum class Anchor { kStart, kMiddle, kEnd };

class Canvas {
 public:
  virtual ~Canvas() = default;
  virtual void Box(double x, double y, double width, double height, Rgb color) = 0;
  virtual void Line(const std::vector<std::pair<double, double>>& points, double width,
                    Rgb color) = 0;
  // `clean`: valid UTF-8 without control characters.
  virtual void Text(double x, double y, const std::string& clean, double size, Anchor anchor,
                    Rgb color) = 0;
  // The bytes of the file. Errors: kInternal.
  virtual Result<std::string> Finish() = 0;
};

std::unique_ptr<Canvas> MakeSvgCanvas(double width, double height);
std::unique_ptr<Canvas> MakePngCanvas(double width, double height);  // 2 pixels per point

}  // namespace batchlight
