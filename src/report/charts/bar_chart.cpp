#include "report/charts/bar_chart.h"

#include <cairo.h>

#include <algorithm>
#include <cmath>

#include "report/charts/cairo_png.h"
#include "report/text/number_text.h"
#include "report/text/utf8.h"

namespace batchlight {
namespace {

// In points; the picture has kPixels pixels per point, so that it is sharp on dense screens.
constexpr double kPixels = 2;
constexpr double kWidth = 900;
constexpr double kEdge = 28;
constexpr double kNamesRight = 318;
constexpr double kBarsLeft = 330;
constexpr double kBarsRight = 752;
constexpr double kTop = 92;
constexpr double kRow = 33;
constexpr double kBarHeight = 19;
constexpr double kAxisHeight = 62;

struct Color {
  double red, green, blue;
};
constexpr Color kInk = {0.086, 0.102, 0.133};
constexpr Color kMuted = {0.345, 0.376, 0.443};
constexpr Color kGrid = {0.875, 0.89, 0.918};
constexpr Color kPaper = {1, 1, 1};
constexpr Color kBar = {0.208, 0.396, 0.788};

enum class Align { kLeft, kCenter, kRight };

class Drawing {
 public:
  explicit Drawing(double height)
      : surface_(cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(kWidth * kPixels),
                                            static_cast<int>(height * kPixels))),
        cairo_(cairo_create(surface_)) {
    cairo_scale(cairo_, kPixels, kPixels);
    cairo_set_source_rgb(cairo_, kPaper.red, kPaper.green, kPaper.blue);
    cairo_paint(cairo_);
  }
  Drawing(const Drawing&) = delete;
  Drawing& operator=(const Drawing&) = delete;
  ~Drawing() {
    cairo_destroy(cairo_);
    cairo_surface_destroy(surface_);
  }

  void SetFont(double size, bool bold, Color color) {
    cairo_set_font_face(cairo_, EmbeddedFace(bold));
    cairo_set_font_size(cairo_, size);
    cairo_set_source_rgb(cairo_, color.red, color.green, color.blue);
  }

  double WidthOf(const std::string& clean) const {
    cairo_text_extents_t extents;
    cairo_text_extents(cairo_, clean.c_str(), &extents);
    return extents.x_advance;
  }

  // `clean` no wider than `width`: the middle gives way.
  std::string Fit(const std::string& clean, double width) const {
    // Nothing in the font is narrower than 2 points: a bound that keeps huge names cheap.
    std::string fitted = ElideMiddle(clean, static_cast<size_t>(width / 2));
    size_t most = CharacterCount(fitted);
    while (most > 3 && WidthOf(fitted) > width) {
      most = std::min(most - 1, static_cast<size_t>(double(most) * width / WidthOf(fitted)) + 1);
      fitted = ElideMiddle(clean, most);
    }
    return fitted;
  }

  void Text(double x, double y, const std::string& clean, Align align = Align::kLeft) {
    const double width = align == Align::kLeft ? 0 : WidthOf(clean);
    cairo_move_to(cairo_, align == Align::kRight ? x - width : x - width / 2, y);
    cairo_show_text(cairo_, clean.c_str());
  }

  void Box(double x, double y, double width, double height, Color color) {
    cairo_set_source_rgb(cairo_, color.red, color.green, color.blue);
    cairo_rectangle(cairo_, x, y, width, height);
    cairo_fill(cairo_);
  }

  // A value and what is said about it, on a ground that covers the grid.
  void Label(double x, double y, const std::string& value, const std::string& note) {
    SetFont(12, false, kMuted);
    const double note_width = WidthOf(note);
    SetFont(12, true, kInk);
    const double value_width = WidthOf(value);
    Box(x - 4, y - 12, value_width + note_width + 16, 16, kPaper);
    SetFont(12, true, kInk);
    Text(x, y, value);
    SetFont(12, false, kMuted);
    Text(x + value_width + 8, y, note);
  }

  Result<std::string> Png() const { return PngBytes(cairo_, surface_); }

 private:
  cairo_surface_t* surface_;
  cairo_t* cairo_;
};

// 1, 2 or 5 times a power of ten: at most `count` of them in `range`.
double NiceStep(double range, int count) {
  const double rough = range / count;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double multiple : {1.0, 2.0, 5.0}) {
    if (multiple * power >= rough * (1 - 1e-9)) return multiple * power;
  }
  return 10 * power;
}

struct Axis {
  Scale scale;
  double step = 1;  // in the shown unit
  int ticks = 1;    // besides 0
};

Axis AxisFor(double largest) {
  Axis axis;
  axis.scale = TimeScale(largest);
  const double shown = largest > 0 ? largest / axis.scale.factor : 1;
  axis.step = NiceStep(shown, 6);
  axis.ticks = std::max(1, static_cast<int>(std::ceil(shown / axis.step - 1e-9)));
  return axis;
}

void DrawAxis(Drawing& drawing, const BarChart& chart, const Axis& axis, double bottom) {
  const int decimals = std::max(0, -static_cast<int>(std::floor(std::log10(axis.step) + 1e-9)));
  const double spacing = (kBarsRight - kBarsLeft) / axis.ticks;
  for (int i = 0; i <= axis.ticks; ++i) {
    const double x = kBarsLeft + i * spacing;
    drawing.Box(x - 0.5, kTop - 4, 1, bottom - kTop + 9, kGrid);
    drawing.SetFont(11, false, kMuted);
    drawing.Text(x, bottom + 20, FixedText(i * axis.step, decimals), Align::kCenter);
  }
  drawing.SetFont(11.5, false, kMuted);
  const std::string name = chart.measure + " (" + std::string(axis.scale.unit) + ")";
  drawing.Text((kBarsLeft + kBarsRight) / 2, bottom + 40, CleanText(name), Align::kCenter);
}

void DrawBars(Drawing& drawing, const BarChart& chart, const Axis& axis) {
  const double full = axis.step * axis.ticks * axis.scale.factor;
  double y = kTop;
  for (const Bar& bar : chart.bars) {
    const double width = std::max(1.0, (kBarsRight - kBarsLeft) * bar.value / full);
    const double baseline = y + kRow / 2 + 4.5;
    drawing.Box(kBarsLeft, y + (kRow - kBarHeight) / 2, width, kBarHeight, kBar);
    drawing.SetFont(12.5, false, kInk);
    const std::string name = drawing.Fit(CleanText(bar.name), kNamesRight - kEdge);
    drawing.Text(kNamesRight, baseline, name, Align::kRight);
    drawing.Label(kBarsLeft + width + 8, baseline, TimeText(bar.value), CleanText(bar.note));
    y += kRow;
  }
}

}  // namespace

Result<std::string> RenderBarChart(const BarChart& chart) {
  const double bottom = kTop + kRow * std::max<double>(1, double(chart.bars.size()));
  Drawing drawing(bottom + kAxisHeight);
  drawing.SetFont(21, true, kInk);
  drawing.Text(kEdge, 42, drawing.Fit(CleanText(chart.title), kWidth - 2 * kEdge));
  drawing.SetFont(12.5, false, kMuted);
  drawing.Text(kEdge, 64, drawing.Fit(CleanText(chart.subtitle), kWidth - 2 * kEdge));
  double largest = 0;
  for (const Bar& bar : chart.bars) largest = std::max(largest, bar.value);
  const Axis axis = AxisFor(largest);
  DrawAxis(drawing, chart, axis, bottom);
  DrawBars(drawing, chart, axis);
  return drawing.Png();
}

}  // namespace batchlight
