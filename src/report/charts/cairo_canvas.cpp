// The part of canvas.h that Cairo does: pictures of pixels and the width of text.
#include <cairo.h>

#include "report/charts/cairo_png.h"
#include "report/charts/canvas.h"

namespace batchlight {
namespace {

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

std::unique_ptr<Canvas> MakePngCanvas(double width, double height) {
  return std::make_unique<PngCanvas>(width, height);
}

bool CanDrawPng() { return true; }

}  // namespace batchlight
