// The surface that charts are drawn on: a few shapes, written as SVG text or, through Cairo where
// it is linked, as a PNG.
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
struct Font {
  double size;  // points
  bool bold = false;
};

inline constexpr Rgb kInk = {0.086, 0.102, 0.133};
inline constexpr Rgb kMuted = {0.345, 0.376, 0.443};
inline constexpr Rgb kGrid = {0.875, 0.89, 0.918};
inline constexpr Rgb kPaper = {1, 1, 1};

class Canvas {
 public:
  virtual ~Canvas() = default;
  virtual void Box(double x, double y, double width, double height, Rgb color) = 0;
  virtual void Line(const std::vector<std::pair<double, double>>& points, double width,
                    Rgb color) = 0;
  // `clean`: valid UTF-8 without control characters.
  virtual void Text(double x, double y, const std::string& clean, Font font, Anchor anchor,
                    Rgb color) = 0;
  // The bytes of the file. Errors: kInternal.
  virtual Result<std::string> Finish() = 0;
};

// How wide `clean` is in the embedded font, on either canvas.
double TextWidth(const std::string& clean, Font font);
// `clean` shortened in its middle so that it is no wider than `width`.
std::string FittedText(const std::string& clean, Font font, double width);

std::unique_ptr<Canvas> MakeSvgCanvas(double width, double height);
// 2 pixels per point. Without Cairo Finish() is an error (kUsage) that says to take SVG.
std::unique_ptr<Canvas> MakePngCanvas(double width, double height);
bool CanDrawPng();  // whether Cairo is linked

}  // namespace batchlight
