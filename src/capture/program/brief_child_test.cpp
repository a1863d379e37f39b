#include "capture/program/brief_child.h"

#include <gtest/gtest.h>

#include <csignal>

namespace batchlight::capture {
namespace {

constexpr BriefLimits kAmple = {.seconds = 60, .bytes = 1 << 20};

TEST(RunBriefly, GivesWhatAProgramSays) {
  const BriefOutput output = RunBriefly({.words = {"sh", "-c", "echo out; exit 3"}}, kAmple);
  EXPECT_FALSE(output.was_ended);
  EXPECT_EQ(output.child.text, "out\n");
  EXPECT_EQ(ShellExitCode(output.child.wait_status), 3);
}

TEST(RunBriefly, EndsOneThatHangs) {
  const BriefOutput output =
      RunBriefly({.words = {"sleep", "1000"}}, {.seconds = 0.01, .bytes = 1 << 20});
  EXPECT_TRUE(output.was_ended);
  EXPECT_EQ(ShellExitCode(output.child.wait_status), 128 + SIGKILL);
}

// Its output is open in a process that it left behind.
TEST(RunBriefly, DoesNotWaitForWhatIsLeft) {
  const BriefOutput output =
      RunBriefly({.words = {"sh", "-c", "sleep 3 & exit 0"}}, {.seconds = 0.5, .bytes = 1 << 20});
  EXPECT_TRUE(output.was_ended);
}

TEST(RunBriefly, EndsOneWithoutAnEnd) {
  const BriefOutput output = RunBriefly({.words = {"yes"}}, kAmple);
  EXPECT_TRUE(output.was_ended);
  EXPECT_LT(output.child.text.size(), 2u << 20);
}

TEST(RunBriefly, SaysWhyNothingRan) {
  EXPECT_EQ(RunBriefly({.words = {"/nowhere/tool"}}, kAmple).child.error, ENOENT);
}

}  // namespace
}  // namespace batchlight::capture
