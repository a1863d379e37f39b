#include "report/charts/plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <vector>

#include "report/charts/axis.h"
#include "report/charts/canvas.h"
#include "report/charts/picture.h"
#include "report/tables/table_format.h"
#include "report/text/number_text.h"
#include "report/text/utf8.h"

namespace batchlight {
namespace {

constexpr double kPlotWidth = 960;
constexpr double kPlotHeight = 420;
constexpr double kPlotLeft = 112;
constexpr double kPlotRight = 930;
constexpr double kPlotTop = 56;
constexpr double kPlotBottom = 360;
constexpr size_t kMostPoints = 2000;  // of a line: more than the picture has pixels
constexpr size_t kMostSeries = 24;

// People who do not see all colours can tell these apart too (Okabe and Ito's palette, without
// yellow).
constexpr auto kSeries = std::to_array<Rgb>({{0, 0.447, 0.698},
                                             {0.835, 0.369, 0},
                                             {0, 0.62, 0.451},
                                             {0.8, 0.475, 0.655},
                                             {0.337, 0.706, 0.914},
                                             {0.902, 0.624, 0}});

struct Point {
  double x;
  double value;
};

double Number(const Cell& cell) {
  if (const auto* integer = std::get_if<int64_t>(&cell)) return static_cast<double>(*integer);
  if (const auto* real = std::get_if<double>(&cell)) return *real;
  return 0;
}

// A number of a column with its unit: "1.20 ms", "37.5 %".
std::string Label(const ResultColumn& column, double value) {
  switch (column.unit) {
    case Unit::kTimeNs:
    case Unit::kTimestampNs:
      return TimeText(value);
    case Unit::kBytes:
      return BytesText(value);
    case Unit::kRate:
      return ByteRateText(value);
    case Unit::kPercent:
      return SignificantText(value) + " %";
    default:
      return column.type == CellType::kInteger && value >= 0
                 ? CountText(static_cast<uint64_t>(value))
                 : SignificantText(value);
  }
}

// Whole for counts; of bytes, round in the unit that they are shown in.
double TickStep(const ResultColumn& column, double range) {
  const double unit = column.unit == Unit::kBytes ? BytesScale(range).factor : 1;
  const double step = unit * RoundStep(range / unit, 4, {5, 2.5, 2, 1});
  return column.type == CellType::kInteger ? std::max(1.0, std::ceil(step)) : step;
}

size_t ColumnAt(const RowSource& rows, std::string_view key) {
  const auto found = std::find_if(rows.columns.begin(), rows.columns.end(),
                                  [&](const ResultColumn& column) { return column.key == key; });
  return static_cast<size_t>(found - rows.columns.begin());
}

// The columns whose values each get a series of their own. A rank is enough to distinguish
// processes.
std::vector<size_t> SeriesColumns(const RowSource& rows, const Picture& picture) {
  std::vector<size_t> columns;
  if (picture.x == "rank") return {ColumnAt(rows, picture.unit)};
  const bool by_rank = ColumnAt(rows, "rank") < rows.columns.size();
  for (const std::string_view key :
       {by_rank ? std::string_view("rank") : picture.process, picture.unit}) {
    if (!key.empty()) columns.push_back(ColumnAt(rows, key));
  }
  return columns;
}

class Plot {
 public:
  Plot(const RowSource& rows, const Picture& picture, Canvas& canvas)
      : rows_(rows),
        kind_(picture.kind),
        canvas_(canvas),
        x_(rows.columns[ColumnAt(rows, picture.x)]),
        value_(rows.columns[ColumnAt(rows, picture.value)]) {
    const std::vector<size_t> series_columns = SeriesColumns(rows, picture);
    const size_t x_at = ColumnAt(rows, picture.x);
    const size_t value_at = ColumnAt(rows, picture.value);
    std::vector<Cell> cells(rows.columns.size());
    for (size_t row = 0; row < rows.row_count; ++row) {
      rows.fill(row, cells);
      std::string series;
      for (const size_t column : series_columns) {
        const ResultColumn& shown = rows.columns[column];
        series += (series.empty() ? "" : ", ") + shown.name.substr(0, shown.name.find(' ')) + ' ' +
                  CellText(shown, cells[column], kReportUnits);
      }
      if (series_.size() >= kMostSeries && !series_.contains(series)) continue;
      const Point point{Number(cells[x_at]), Number(cells[value_at])};
      series_[series].push_back(point);
      most_ = std::max(most_, point.value);
      first_ = row == 0 ? point.x : std::min(first_, point.x);
      last_ = row == 0 ? point.x : std::max(last_, point.x);
    }
    if (most_ <= 0) most_ = 1;
    FindSubject();
  }

  void Draw() {
    canvas_.Text(kPlotLeft, 28, CleanText(rows_.title), {16}, Anchor::kStart, kInk);
    std::string subtitle = CleanText(value_.name) + " by " + CleanText(x_.name);
    if (IsTimestamp()) subtitle += ", from " + Label(x_, first_);
    if (!subject_.empty()) subtitle += " of " + ElideMiddle(CleanText(subject_), 90);
    canvas_.Text(kPlotLeft, 46, subtitle, {11}, Anchor::kStart, kMuted);
    switch (kind_) {
      case Picture::Kind::kBars:
        DrawBars();
        break;
      case Picture::Kind::kLine:
        DrawLines();
        break;
      default:
        DrawMap();
        break;
    }
    DrawLegend();
  }

 private:
  // The one kernel or range that all rows of a pace are about.
  void FindSubject() {
    std::vector<Cell> cells(rows_.columns.size());
    for (size_t row = 0; row < rows_.row_count; ++row) {
      rows_.fill(row, cells);
      const auto* name = std::get_if<std::string>(&cells.back());
      if (name == nullptr || (row > 0 && *name != subject_)) {
        subject_.clear();
        return;
      }
      subject_ = *name;
    }
  }

  bool IsTimestamp() const { return x_.unit == Unit::kTimestampNs; }
  double Y(double value) const { return kPlotBottom - (kPlotBottom - kPlotTop) * value / top_; }
  double X(double x) const {
    return last_ > first_ ? kPlotLeft + (kPlotRight - kPlotLeft) * (x - first_) / (last_ - first_)
                          : kPlotLeft;
  }

  void DrawValueAxis() {
    const double step = TickStep(value_, most_);
    top_ = step * std::ceil(most_ / step);
    for (double value = 0; value <= top_ + step / 2; value += step) {
      canvas_.Line({{kPlotLeft, Y(value)}, {kPlotRight, Y(value)}}, 1, kGrid);
      canvas_.Text(kPlotLeft - 8, Y(value) + 4, Label(value_, value), {11}, Anchor::kEnd, kMuted);
    }
  }
  // Points in time are shown relative to the first.
  void DrawPlaceAxis() {
    if (last_ <= first_) return;
    const double origin = IsTimestamp() ? first_ : 0;
    const double step = TickStep(x_, last_ - first_);
    const double begin = origin + step * std::ceil((first_ - origin) / step);
    for (double x = begin; x <= last_; x += step) {
      canvas_.Text(X(x), kPlotBottom + 18, Label(x_, x - origin), {11}, Anchor::kMiddle, kMuted);
    }
  }

  void DrawBars() {
    DrawValueAxis();
    if (series_.empty()) return;
    // One place along the axis for each x that occurs in any series.
    std::map<double, size_t> places;
    for (const auto& [name, points] : series_) {
      for (const Point& point : points) places.try_emplace(point.x, 0);
    }
    size_t next = 0;
    for (auto& [x, place] : places) place = next++;
    const double step = (kPlotRight - kPlotLeft) / static_cast<double>(places.size());
    const double width = step * 0.8 / static_cast<double>(series_.size());
    size_t number = 0;
    for (const auto& [name, points] : series_) {
      for (const Point& point : points) {
        const double left = kPlotLeft + step * static_cast<double>(places[point.x]) + step * 0.1 +
                            width * static_cast<double>(number);
        canvas_.Box(left, Y(point.value), width, kPlotBottom - Y(point.value), Color(number));
      }
      ++number;
    }
    for (const auto& [x, place] : places) {
      const double middle = kPlotLeft + step * (static_cast<double>(place) + 0.5);
      if (places.size() <= 16 || place % (places.size() / 8) == 0) {
        canvas_.Text(middle, kPlotBottom + 18, Label(x_, x), {11}, Anchor::kMiddle, kMuted);
      }
    }
  }

  void DrawLines() {
    DrawValueAxis();
    DrawPlaceAxis();
    size_t number = 0;
    for (const auto& [name, points] : series_) {
      // Of too many points keeps the largest of each stretch, since readers look for the outliers.
      const size_t stretch = (points.size() + kMostPoints - 1) / kMostPoints;
      std::vector<std::pair<double, double>> line;
      for (size_t i = 0; i < points.size(); i += stretch) {
        const auto begin = points.begin() + static_cast<ptrdiff_t>(i);
        const auto end =
            points.begin() + static_cast<ptrdiff_t>(std::min(points.size(), i + stretch));
        const Point& top = *std::max_element(
            begin, end, [](const Point& a, const Point& b) { return a.value < b.value; });
        line.emplace_back(X(top.x), Y(top.value));
      }
      if (line.size() == 1) {
        canvas_.Box(line[0].first - 2, line[0].second - 2, 4, 4, Color(number));
      } else {
        canvas_.Line(line, 1.5, Color(number));
      }
      ++number;
    }
  }

  void DrawMap() {
    DrawPlaceAxis();
    const double height =
        (kPlotBottom - kPlotTop) / static_cast<double>(std::max<size_t>(1, series_.size()));
    size_t number = 0;
    for (const auto& [name, points] : series_) {
      const double top = kPlotTop + height * static_cast<double>(number++);
      for (size_t i = 0; i < points.size(); ++i) {
        const double left = X(points[i].x);
        const double right = i + 1 < points.size() ? X(points[i + 1].x) : kPlotRight;
        const double share = points[i].value / most_;
        const Rgb color = {1 - share * 0.95, 1 - share * 0.55, 1 - share * 0.3};
        canvas_.Box(left, top + 1, std::max(0.5, right - left), std::max(1.0, height - 2), color);
      }
    }
    canvas_.Text(kPlotRight, 46, "darkest: " + Label(value_, most_), {11}, Anchor::kEnd, kMuted);
  }

  void DrawLegend() {
    if (series_.size() == 1 && series_.begin()->first.empty()) return;
    const bool map = kind_ == Picture::Kind::kMap;
    const double height =
        (kPlotBottom - kPlotTop) / static_cast<double>(std::max<size_t>(1, series_.size()));
    size_t number = 0;
    for (const auto& [name, points] : series_) {
      if (map) {
        canvas_.Text(kPlotLeft - 6, kPlotTop + height * (static_cast<double>(number) + 0.5) + 4,
                     ElideMiddle(CleanText(name), 20), {9}, Anchor::kEnd, kMuted);
      } else if (number < 6) {
        const double left = kPlotLeft + 140 * static_cast<double>(number);
        canvas_.Box(left, kPlotHeight - 26, 10, 10, Color(number));
        canvas_.Text(left + 16, kPlotHeight - 17, ElideMiddle(CleanText(name), 18), {11},
                     Anchor::kStart, kMuted);
      }
      ++number;
    }
  }

  static Rgb Color(size_t number) { return kSeries[number % kSeries.size()]; }

  const RowSource& rows_;
  Picture::Kind kind_;
  Canvas& canvas_;
  const ResultColumn& x_;
  const ResultColumn& value_;
  std::map<std::string, std::vector<Point>> series_;
  std::string subject_;
  double most_ = 0;
  double top_ = 1;  // of the value axis
  double first_ = 0;
  double last_ = 0;
};

}  // namespace

Result<std::string> RenderPlot(const RowSource& rows, PictureFormat format) {
  const Picture* picture = PictureOf(rows.name);
  if (picture == nullptr) {
    return UsageError("report " + rows.name +
                      " has no picture; use another format than png or svg");
  }
  const std::unique_ptr<Canvas> canvas = format == PictureFormat::kSvg
                                             ? MakeSvgCanvas(kPlotWidth, kPlotHeight)
                                             : MakePngCanvas(kPlotWidth, kPlotHeight);
  Plot(rows, *picture, *canvas).Draw();
  return canvas->Finish();
}

}  // namespace batchlight
