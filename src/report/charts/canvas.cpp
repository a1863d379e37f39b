#include "report/charts/canvas.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "report/tables/table_writers.h"
#include "report/text/utf8.h"

namespace batchlight {
namespace {

std::string OneDecimal(double value) {
  std::array<char, 32> text;
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed, 1);
  return std::string(text.data(), end.ptr);
}

std::string Hex(Rgb color) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text = "#";
  for (const double part : {color.red, color.green, color.blue}) {
    const auto byte = static_cast<size_t>(std::lround(part * 255));
    text += kDigits[byte >> 4 & 15];
    text += kDigits[byte & 15];
  }
  return text;
}

class SvgCanvas final : public Canvas {
 public:
  SvgCanvas(double width, double height) {
    svg_ = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + OneDecimal(width) + " " +
           OneDecimal(height) + "\" width=\"" + OneDecimal(width) + "\" height=\"" +
           OneDecimal(height) + "\" font-family=\"DejaVu Sans, Verdana, sans-serif\">\n";
    Box(0, 0, width, height, kPaper);
  }
  void Box(double x, double y, double width, double height, Rgb color) override {
    svg_ += "<rect x=\"" + OneDecimal(x) + "\" y=\"" + OneDecimal(y) + "\" width=\"" +
            OneDecimal(width) + "\" height=\"" + OneDecimal(height) + "\" fill=\"" + Hex(color) +
            "\"/>\n";
  }
  void Line(const std::vector<std::pair<double, double>>& points, double width,
            Rgb color) override {
    svg_ += "<polyline fill=\"none\" stroke=\"" + Hex(color) + "\" stroke-width=\"" +
            OneDecimal(width) + "\" points=\"";
    for (const auto& [x, y] : points) {
      svg_ += OneDecimal(x);
      svg_ += ',';
      svg_ += OneDecimal(y);
      svg_ += ' ';
    }
    svg_ += "\"/>\n";
  }
  void Text(double x, double y, const std::string& clean, Font font, Anchor anchor,
            Rgb color) override {
    constexpr const char* kAnchors[] = {"start", "middle", "end"};
    svg_ += "<text x=\"" + OneDecimal(x) + "\" y=\"" + OneDecimal(y) + "\" font-size=\"" +
            OneDecimal(font.size) + (font.bold ? "\" font-weight=\"bold" : "") +
            "\" text-anchor=\"" + kAnchors[static_cast<size_t>(anchor)] + "\" fill=\"" +
            Hex(color) + "\">";
    AppendHtmlEscaped(clean, svg_);
    svg_ += "</text>\n";
  }
  Result<std::string> Finish() override { return svg_ + "</svg>\n"; }

 private:
  std::string svg_;
};

}  // namespace

std::string FittedText(const std::string& clean, Font font, double width) {
  // No glyph is narrower than 2 points; that bound keeps huge names cheap.
  std::string fitted = ElideMiddle(clean, static_cast<size_t>(width / 2));
  size_t most = CharacterCount(fitted);
  while (most > 3) {
    const double has = TextWidth(fitted, font);
    if (has <= width) break;
    most = std::min(most - 1, static_cast<size_t>(double(most) * width / has) + 1);
    fitted = ElideMiddle(clean, most);
  }
  return fitted;
}

std::unique_ptr<Canvas> MakeSvgCanvas(double width, double height) {
  return std::make_unique<SvgCanvas>(width, height);
}

}  // namespace batchlight
