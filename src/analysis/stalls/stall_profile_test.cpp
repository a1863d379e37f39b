#include "analysis/stalls/stall_profile.h"

#include <gtest/gtest.h>

namespace batchlight {
namespace {

class StallProfileTest : public testing::Test {
 protected:
  uint32_t Name(const std::string& text) {
    samples_.names.push_back(text);
    return static_cast<uint32_t>(samples_.names.size() - 1);
  }
  uint32_t Reason(const std::string& name) {
    return Name("smsp__pcsamp_warps_issue_stalled_" + name);
  }
  void Add(uint32_t function, uint32_t reason, uint64_t offset, uint32_t samples, uint32_t file = 0,
           uint32_t line = 0, uint32_t instruction = 0) {
    samples_.samples.push_back({.function = function,
                                .reason = reason,
                                .instruction = instruction,
                                .file = file,
                                .line = line,
                                .samples = samples,
                                .code = 7,
                                .offset = offset});
  }

  StallSamples samples_;
};

TEST_F(StallProfileTest, KernelsAndTheirLines) {
  const uint32_t scale = Name("_Z5scalePf"), other = Name("_Z5otherv"), file = Name("/a/scale.cu");
  const uint32_t load = Name("LDG.E R2, [R2.64]");
  const uint32_t memory = Reason("long_scoreboard"), selected = Reason("selected");
  const uint32_t twin = Reason("long_scoreboard_not_issued"), strange = Reason("of_the_future");
  Add(scale, memory, 0x80, 60, file, 5, load);
  samples_.samples.back().source = Name("const float a = y[i];");
  Add(scale, twin, 0x80, 45, file, 5, load);
  Add(scale, selected, 0x90, 10, file, 5);
  Add(scale, strange, 0x50, 5, file, 4);
  Add(other, selected, 0x10, 15);
  Add(other, selected, 0x20, 10);
  samples_.windows = {{.number = 1, .is_whole = true, .samples = 120, .dropped = 9, .foreign = 11},
                      {.number = 2, .is_short = true, .buffer_full = true}};
  const StallProfile profile = ProfileStalls(samples_);
  EXPECT_EQ(profile.samples, 100u);
  EXPECT_EQ(profile.windows, 2u);
  EXPECT_EQ(profile.windows_cut, 1u);
  EXPECT_EQ(profile.windows_short, 1u);
  EXPECT_EQ(profile.dropped, 9u);
  EXPECT_TRUE(profile.buffer_full);
  EXPECT_TRUE(profile.has_lines);
  ASSERT_EQ(profile.kernels.size(), 2u);
  EXPECT_EQ(profile.kernels[0].kernel, "scale(float*)");
  EXPECT_EQ(profile.kernels[0].samples, 75u);
  EXPECT_EQ(profile.kernels[0].not_issued, 45u);
  EXPECT_DOUBLE_EQ(profile.kernels[1].share, 0.25);
  EXPECT_EQ(MainStalls(profile.kernels[0]), "Long Scoreboard 80 %, other 7 %");
  EXPECT_EQ(MainStalls(profile.kernels[1]), "");
  EXPECT_NE(StallAdvice(profile.kernels[0]).find("loads from memory"), std::string::npos);
  EXPECT_EQ(StallAdvice(profile.kernels[1]), "");

  ASSERT_EQ(profile.lines.size(), 4u) << "two lines, and two instructions of a kernel without";
  EXPECT_EQ(profile.lines[0].file, "/a/scale.cu");
  EXPECT_EQ(profile.lines[0].line, 5u);
  EXPECT_EQ(profile.lines[0].source, "const float a = y[i];");
  EXPECT_EQ(profile.lines[0].samples, 70u);
  EXPECT_EQ(profile.lines[0].instruction, "LDG.E R2, [R2.64]");
  EXPECT_EQ(profile.lines[0].offset, 0x80u);
  EXPECT_DOUBLE_EQ(profile.lines[0].kernel_share, 70.0 / 75);
  EXPECT_EQ(profile.lines[1].offset, 0x10u);
  EXPECT_EQ(profile.lines[1].line, 0u);
  EXPECT_DOUBLE_EQ(profile.lines[1].kernel_share, 0.6);
}

TEST_F(StallProfileTest, NothingIsNothing) {
  const StallProfile profile = ProfileStalls(samples_);
  EXPECT_EQ(profile.samples, 0u);
  EXPECT_TRUE(profile.kernels.empty());
  EXPECT_FALSE(profile.has_lines);
}

TEST_F(StallProfileTest, ReasonsThatAreCloseAreBothNamedAndSmallOnesAreNot) {
  const uint32_t kernel = Name("k");
  Add(kernel, Reason("barrier"), 0, 50);
  Add(kernel, Reason("no_instructions"), 0, 47);
  Add(kernel, Reason("wait"), 0, 3);
  const StallProfile profile = ProfileStalls(samples_);
  EXPECT_EQ(MainStalls(profile.kernels[0]), "Barrier 50 %, No Instruction 47 %");
}

}  // namespace
}  // namespace batchlight
