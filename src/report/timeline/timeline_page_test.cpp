#include "report/timeline/timeline_page.h"

#include <gtest/gtest.h>

#include <regex>

#include "analysis/testing/sample_run.h"
#include "timeline/answers/event_bytes.h"
#include "timeline/tracks/build_timeline.h"

namespace batchlight {
namespace {

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(TimelinePageTest, SaysWhichStepsAPartOfARunHolds) {
  const Store store = testing::MakeSampleRun({.steps = 40});
  const auto timeline = timeline::BuildTimeline(store);
  const uint64_t all = timeline::CountEvents(*timeline, {});
  EXPECT_EQ(MakeTimelineElements(*timeline, all).left_out, "");
  const TimelinePage part = MakeTimelineElements(*timeline, all / 2);
  const std::regex steps(
      R"(those of steps \d+ to \d+ \(\d+ of 40\)(, among them the slow step \d+)?; `batchlight view` shows all$)");
  EXPECT_TRUE(std::regex_search(part.left_out, steps)) << part.left_out;
  EXPECT_TRUE(Has(part.html, part.left_out));
  const std::string least = MakeTimelineElements(*timeline, 7).left_out;
  EXPECT_TRUE(Has(least, "those of no whole step;")) << least;
}

}  // namespace
}  // namespace batchlight
