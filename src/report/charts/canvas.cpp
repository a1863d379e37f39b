#include "report/charts/canvas.h"

#include <cairo.h>

#include <array>
#include <charconv>
#include <cmath>

#include "report/charts/cairo_png.h"
#include "report/tables/table_writers.h"

namespace batchlight {
namespace {

std::string Number(double value) {
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
    svg_ = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + Number(width) + " " +
           Number(height) + "\" width=\"" + Number(width) + "\" height=\"" + Number(height) +
           "\" font-family=\"DejaVu Sans, Verdana, sans-serif\">\n";
    Box(0, 0, width, height, {1, 1, 1});
  }
  void Box(double x, double y, double width, double height, Rgb color) override {
    svg_ += "<rect x=\"" + Number(x) + "\" y=\"" + Number(y) + "\" width=\"" + Number(width) +
            "\" height=\"" + Number(height) + "\" fill=\"" + Hex(color) + "\"/>\n";
  }
  void Line(const std::vector<std::pair<double, double>>& points, double width,
            Rgb color) override {
    svg_ += "<polyline fill=\"none\" stroke=\"" + Hex(color) + "\" stroke-width=\"" +
            Number(width) + "\" points=\"";
    for (const auto& [x, y] : points) {
      svg_ += Number(x);
      svg_ += ',';
      svg_ += Number(y);
      svg_ += ' ';
    }
    svg_ += "\"/>\n";
  }
  void Text(double x, double y, const std::string& clean, double size, Anchor anchor,
            Rgb color) override {
    constexpr const char* kAnchors[] = {"start", "middle", "end"};
    svg_ += "<text x=\"" + Number(x) + "\" y=\"" + Number(y) + "\" font-size=\"" + Number(size) +
            "\" text-anchor=\"" + kAnchors[static_cast<size_t>(anchor)] + "\" fill=\"" +
            Hex(color) + "\">";
    AppendHtmlEscaped(clean, svg_);
    svg_ += "</text>\n";
  }
  Result<std::string> Finish() override { return svg_ + "</svg>\n"; }

 private:
  std::string svg_;
};

class PngCanvas final : public Canvas {
 public:
  static constexpr double kPixels = 2;

  PngCanvas(double width, double height)
      : surface_(cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(width * kPixels),
                                            static_cast<int>(height * kPixels))),
        cairo_(cairo_create(surface_)) {
    cairo_scale(cairo_, kPixels, kPixels);
    Box(0, 0, width, height, {1, 1, 1});
    cairo_set_font_face(cairo_, EmbeddedFace(false));
  }
  PngCanvas(const PngCanvas&) = delete;
  PngCanvas& operator=(const PngCanvas&) = delete;
  ~PngCanvas() override {
    cairo_destroy(cairo_);
    cairo_surface_destroy(surface_);
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
    cairo_new_path(cairo_);  // text leaves its end as the current point
    for (const auto& [x, y] : points) cairo_line_to(cairo_, x, y);
    cairo_stroke(cairo_);
  }
  void Text(double x, double y, const std::string& clean, double size, Anchor anchor,
            Rgb color) override {
    Color(color);
    cairo_set_font_size(cairo_, size);
    cairo_text_extents_t extents;
    cairo_text_extents(cairo_, clean.c_str(), &extents);
    const double shift = anchor == Anchor::kStart    ? 0
                         : anchor == Anchor::kMiddle ? extents.x_advance / 2
                                                     : extents.x_advance;
    cairo_move_to(cairo_, x - shift, y);
    cairo_show_text(cairo_, clean.c_str());
  }
  Result<std::string> Finish() override { return PngBytes(cairo_, surface_); }

 private:
  void Color(Rgb color) { cairo_set_source_rgb(cairo_, color.red, color.green, color.blue); }

  cairo_surface_t* surface_;
  cairo_t* cairo_;
};

}  // namespace

std::unique_ptr<Canvas> MakeSvgCanvas(double width, double height) {
  return std::make_unique<SvgCanvas>(width, height);
}
std::unique_ptr<Canvas> MakePngCanvas(double width, double height) {
  return std::make_unique<PngCanvas>(width, height);
}

}  // namespace batchlight
