#include "analysis/advice/thresholds.h"

#include <gtest/gtest.h>

#include "analysis/advice/advice.h"

namespace batchlight::advice {
namespace {

TEST(Thresholds, PrintTheirValuesWithTheirUnits) {
  EXPECT_EQ(FillThresholds("{kVisibleGain}, {kUnevenExcess}"), "0.5 %, 5 %");
  EXPECT_EQ(FillThresholds("{kMemoryUse} or {kCauseStandsOut} as {kSmallGridPart}"),
            "half or twice as a third");
  EXPECT_EQ(FillThresholds("{kThreadsPerProcessor} {kSmallKernels}"), "1.5 times 100");
  EXPECT_EQ(FillThresholds("{kShortKernelNs} {kPageableBytes} {kPinningRate}"),
            "5 us 256 KiB 3.4 GB/s");
}

TEST(Thresholds, TextWithoutNumbersStaysAsItIs) {
  EXPECT_EQ(FillThresholds("plain"), "plain");
  EXPECT_EQ(FillThresholds(""), "");
  EXPECT_EQ(FillThresholds("an {open one"), "an {open one");
}

TEST(Thresholds, EverySentenceOfARuleNamesOnesThatExist) {
  for (const AdviceRule& rule : AdviceRules()) {
    EXPECT_EQ(rule.sentence.find('{'), std::string::npos) << rule.id << ": " << rule.sentence;
    EXPECT_FALSE(rule.sentence.empty()) << rule.id;
  }
}

}  // namespace
}  // namespace batchlight::advice
