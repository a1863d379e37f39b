#include "report/charts/canvas.h"

#include <cairo.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "report/charts/cairo_png.h"
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

// A Cairo image, measured in points.
class CairoPicture {
 public:
  static constexpr double kPixels = 2;  // per point, so that it is sharp on dense screens

  CairoPicture(double width, double height)
      : surface_(cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(width * kPixels),
                                            static_cast<int>(height * kPixels))),
        cairo_(cairo_create(surface_)) {
    cairo_scale(cairo_, kPixels, kPixels);
  }
  CairoPicture(const CairoPicture&) = delete;
  CairoPicture& operator=(const CairoPicture&) = delete;
  ~CairoPicture() {
    cairo_destroy(cairo_);
    cairo_surface_destroy(surface_);
  }

  cairo_t* cairo() const { return cairo_; }
  void Use(Font font) {
    cairo_set_font_face(cairo_, EmbeddedFace(font.bold));
    cairo_set_font_size(cairo_, font.size);
  }
  double WidthOf(const std::string& clean) const {
    cairo_text_extents_t extents;
    cairo_text_extents(cairo_, clean.c_str(), &extents);
    return extents.x_advance;
  }
  Result<std::string> Png() const { return PngBytes(cairo_, surface_); }

 private:
  cairo_surface_t* surface_;
  cairo_t* cairo_;
};

class PngCanvas final : public Canvas {
 public:
  PngCanvas(double width, double height) : picture_(width, height), cairo_(picture_.cairo()) {
    Box(0, 0, width, height, kPaper);
  }
  void Box(double x, double y, double width, double height, Rgb color) override {
    Color(color);
    cairo_rectangle(cairo_, x, y, width, height);
    cairo_fill(cairo_);
  }
  void Line(const std::vector<std::pair<double, double>>& points, double width,
            Rgb color) override {
    Color(color);
    cairo_set_line_width(cairo_, width);
    cairo_new_path(cairo_);  // drawing text leaves a current point at its end
    for (const auto& [x, y] : points) cairo_line_to(cairo_, x, y);
    cairo_stroke(cairo_);
  }
  void Text(double x, double y, const std::string& clean, Font font, Anchor anchor,
            Rgb color) override {
    Color(color);
    picture_.Use(font);
    const double width = anchor == Anchor::kStart ? 0 : picture_.WidthOf(clean);
    const double shift = anchor == Anchor::kEnd ? width : width / 2;
    cairo_move_to(cairo_, x - shift, y);
    cairo_show_text(cairo_, clean.c_str());
  }
  Result<std::string> Finish() override { return picture_.Png(); }

 private:
  void Color(Rgb color) { cairo_set_source_rgb(cairo_, color.red, color.green, color.blue); }

  CairoPicture picture_;
  cairo_t* cairo_;
};

}  // namespace

double TextWidth(const std::string& clean, Font font) {
  CairoPicture picture(1, 1);
  picture.Use(font);
  return picture.WidthOf(clean);
}

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
std::unique_ptr<Canvas> MakePngCanvas(double width, double height) {
  return std::make_unique<PngCanvas>(width, height);
}

}  // namespace batchlight
