#include "report/charts/bar_chart.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "report/charts/axis.h"
#include "report/charts/canvas.h"
#include "report/text/number_text.h"
#include "report/text/utf8.h"

namespace batchlight {
namespace {

// In points.
constexpr double kWidth = 900;
constexpr double kEdge = 28;
constexpr double kNamesRight = 318;
constexpr double kBarsLeft = 330;
constexpr double kBarsRight = 752;
constexpr double kTop = 92;
constexpr double kRow = 33;
constexpr double kBarHeight = 19;
constexpr double kAxisHeight = 62;

constexpr Rgb kBar = {0.208, 0.396, 0.788};

constexpr Font kTitleFont = {21, true};
constexpr Font kSubtitleFont = {12.5};
constexpr Font kNameFont = {12.5};
constexpr Font kValueFont = {12, true};
constexpr Font kNoteFont = {12};
constexpr Font kTickFont = {11};
constexpr Font kMeasureFont = {11.5};

// Draws a value and its note on a background that covers the grid.
void DrawLabel(Canvas& canvas, double x, double y, const std::string& value,
               const std::string& note) {
  const double value_width = TextWidth(value, kValueFont);
  canvas.Box(x - 4, y - 12, value_width + TextWidth(note, kNoteFont) + 16, 16, kPaper);
  canvas.Text(x, y, value, kValueFont, Anchor::kStart, kInk);
  canvas.Text(x + value_width + 8, y, note, kNoteFont, Anchor::kStart, kMuted);
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
  axis.step = RoundStep(shown, 6, {5, 2, 1});
  axis.ticks = std::max(1, static_cast<int>(std::ceil(shown / axis.step - 1e-9)));
  return axis;
}

void DrawAxis(Canvas& canvas, const BarChart& chart, const Axis& axis, double bottom) {
  const int decimals = std::max(0, -static_cast<int>(std::floor(std::log10(axis.step) + 1e-9)));
  const double spacing = (kBarsRight - kBarsLeft) / axis.ticks;
  for (int i = 0; i <= axis.ticks; ++i) {
    const double x = kBarsLeft + i * spacing;
    canvas.Box(x - 0.5, kTop - 4, 1, bottom - kTop + 9, kGrid);
    canvas.Text(x, bottom + 20, FixedText(i * axis.step, decimals), kTickFont, Anchor::kMiddle,
                kMuted);
  }
  const std::string name = chart.measure + " (" + std::string(axis.scale.unit) + ")";
  canvas.Text((kBarsLeft + kBarsRight) / 2, bottom + 40, CleanText(name), kMeasureFont,
              Anchor::kMiddle, kMuted);
}

void DrawBars(Canvas& canvas, const BarChart& chart, const Axis& axis) {
  const double full = axis.step * axis.ticks * axis.scale.factor;
  double y = kTop;
  for (const Bar& bar : chart.bars) {
    const double width = std::max(1.0, (kBarsRight - kBarsLeft) * bar.value / full);
    const double baseline = y + kRow / 2 + 4.5;
    canvas.Box(kBarsLeft, y + (kRow - kBarHeight) / 2, width, kBarHeight, kBar);
    canvas.Text(kNamesRight, baseline,
                FittedText(CleanText(bar.name), kNameFont, kNamesRight - kEdge), kNameFont,
                Anchor::kEnd, kInk);
    DrawLabel(canvas, kBarsLeft + width + 8, baseline, TimeText(bar.value), CleanText(bar.note));
    y += kRow;
  }
}

}  // namespace

Result<std::string> RenderBarChart(const BarChart& chart) {
  const double bottom = kTop + kRow * std::max<double>(1, double(chart.bars.size()));
  const auto make = CanDrawPng() ? MakePngCanvas : MakeSvgCanvas;
  const std::unique_ptr<Canvas> canvas = make(kWidth, bottom + kAxisHeight);
  constexpr double kTitleWidth = kWidth - 2 * kEdge;
  canvas->Text(kEdge, 42, FittedText(CleanText(chart.title), kTitleFont, kTitleWidth), kTitleFont,
               Anchor::kStart, kInk);
  canvas->Text(kEdge, 64, FittedText(CleanText(chart.subtitle), kSubtitleFont, kTitleWidth),
               kSubtitleFont, Anchor::kStart, kMuted);
  double largest = 0;
  for (const Bar& bar : chart.bars) largest = std::max(largest, bar.value);
  const Axis axis = AxisFor(largest);
  DrawAxis(*canvas, chart, axis, bottom);
  DrawBars(*canvas, chart, axis);
  return canvas->Finish();
}

}  // namespace batchlight
