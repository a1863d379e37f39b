#include "report/charts/bar_chart.h"

#include <cairo.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>

namespace batchlight {
namespace {

struct Picture {
  int width = 0;
  int height = 0;
  cairo_surface_t* surface = nullptr;

  explicit Picture(const std::string& png) {
    struct Reader {
      const std::string* bytes;
      size_t at = 0;
    } reader{&png};
    const auto read = [](void* state, unsigned char* data, unsigned int size) {
      auto* from = static_cast<Reader*>(state);
      if (from->at + size > from->bytes->size()) return CAIRO_STATUS_READ_ERROR;
      std::memcpy(data, from->bytes->data() + from->at, size);
      from->at += size;
      return CAIRO_STATUS_SUCCESS;
    };
    surface = cairo_image_surface_create_from_png_stream(read, &reader);
    width = cairo_image_surface_get_width(surface);
    height = cairo_image_surface_get_height(surface);
  }
  ~Picture() { cairo_surface_destroy(surface); }
  uint32_t At(int x, int y) const {
    const unsigned char* row = cairo_image_surface_get_data(surface) +
                               ptrdiff_t{y} * cairo_image_surface_get_stride(surface);
    uint32_t pixel;
    std::memcpy(&pixel, row + 4 * ptrdiff_t{x}, 4);
    return pixel & 0xFFFFFF;
  }
  // Pixels of the bars' colour in a row.
  int BarLength(int y) const {
    int length = 0;
    for (int x = 660; x < width; ++x) length += At(x, y) == 0x3565C9;
    return length;
  }
};

BarChart Sample() {
  BarChart chart{.title = "Top 10 operators", .subtitle = "train.py", .measure = "self time"};
  for (int i = 0; i < 10; ++i) {
    chart.bars.push_back(
        {.name = "aten::op" + std::to_string(i), .value = 9e6 / (i + 1), .note = "1 %"});
  }
  return chart;
}

TEST(BarChartTest, BarsAreAsLongAsTheirValues) {
  const auto png = RenderBarChart(Sample());
  ASSERT_TRUE(png.ok()) << png.status().message();
  if (const char* path = std::getenv("BATCHLIGHT_SAVE_PICTURE")) {
    std::ofstream(path, std::ios::binary) << png.value();
  }
  const Picture picture(png.value());
  EXPECT_EQ(picture.width, 1800);
  const int first = picture.BarLength(2 * (92 + 16));
  const int second = picture.BarLength(2 * (92 + 33 + 16));
  EXPECT_NEAR(first, 844 * 0.9, 3);  // 9 ms of an axis of 10 ms
  EXPECT_NEAR(second, first / 2, 2);
}

TEST(BarChartTest, NamesAreDrawnAndHostileOnesDoNoHarm) {
  BarChart chart = Sample();
  chart.bars[0].name = std::string(10'000'000, 'k');
  chart.bars[1].name = "\xFF\xFE\n\x01";
  chart.bars[2].name = "";
  chart.title = std::string(5000, 'T');
  const auto png = RenderBarChart(chart);
  ASSERT_TRUE(png.ok()) << png.status().message();
  const Picture picture(png.value());
  int dark = 0;
  for (int x = 56; x < 640; ++x) {
    for (int y = 2 * 92; y < 2 * 125; ++y) dark += (picture.At(x, y) & 0xFF) < 0x80;
  }
  EXPECT_GT(dark, 300);
  for (int y = 0; y < 2 * 92; ++y) EXPECT_EQ(picture.At(1799, y), 0xFFFFFFu);  // the title fits
}

TEST(BarChartTest, NothingToShowIsStillAPicture) {
  const auto png = RenderBarChart({.title = "Top 10", .subtitle = "", .measure = "time"});
  ASSERT_TRUE(png.ok());
  EXPECT_GT(Picture(png.value()).height, 100);
}

TEST(BarChartTest, AllZeroValuesAreStillAPicture) {
  BarChart chart = Sample();
  for (Bar& bar : chart.bars) bar.value = 0;
  EXPECT_TRUE(RenderBarChart(chart).ok());
}

}  // namespace
}  // namespace batchlight
