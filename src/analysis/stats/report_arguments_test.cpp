#include "analysis/stats/report_arguments.h"

#include <gtest/gtest.h>

#include <vector>

#include "analysis/stats/expert_rule.h"
#include "analysis/stats/stats_report.h"

namespace batchlight::stats {
namespace {

constexpr std::string_view kUsage =
    "[:nvtx-name][:base|:mangled][:rows=<limit>][:gap=<ms>][:bins=<bins>]"
    "[:range=<name[@domain]>]";

std::string Check(std::vector<std::string> args, std::string_view usage = kUsage) {
  const Status status = CheckArguments("report r", usage, args);
  return status.ok() ? "" : status.message();
}

TEST(ReportArguments, WhatTheUsageSays) {
  EXPECT_EQ(Check({}), "");
  EXPECT_EQ(Check({"nvtx-name", "base", "rows=-1", "gap=0.5", "bins=7", "range=a b@c"}), "");
  EXPECT_EQ(Check({"base", "base"}), "");
}

TEST(ReportArguments, UnknownOnesNameTheNearest) {
  EXPECT_EQ(Check({"nvtx-nam"}),
            "report r: has no argument \"nvtx-nam\"; did you mean nvtx-name? (it takes " +
                std::string(kUsage) + ")");
  EXPECT_NE(Check({"roes=3"}).find("did you mean rows?"), std::string::npos);
  EXPECT_EQ(Check({"x"}, ""), "report r: has no argument \"x\": it takes none");
  EXPECT_NE(Check({""}).find("has no argument \"\""), std::string::npos);
}

TEST(ReportArguments, AlternativesExcludeEachOther) {
  EXPECT_EQ(Check({"base", "mangled"}), "report r: base and mangled exclude each other");
}

TEST(ReportArguments, Values) {
  EXPECT_EQ(Check({"rows=x"}), "report r: rows= takes a whole number, -1 for all, not \"x\"");
  EXPECT_NE(Check({"rows"}), "");
  EXPECT_NE(Check({"rows=1.5"}), "");
  EXPECT_NE(Check({"rows=99999999999999999999"}), "");
  EXPECT_NE(Check({"gap=nan"}), "");
  EXPECT_NE(Check({"gap=-1"}), "");
  EXPECT_NE(Check({"bins=0"}), "");
  EXPECT_NE(Check({"range="}), "");
  EXPECT_EQ(Check({"base=1"}), "report r: base takes no value");
}

TEST(ReportArguments, TheLastOneCounts) {
  const std::vector<std::string> args = {"rows=3", "rows=4", "gap=0.5", "rowsx=9"};
  EXPECT_EQ(ArgumentInteger(args, "rows", 1), 4);
  EXPECT_EQ(ArgumentInteger(args, "bins", 1), 1);
  EXPECT_EQ(ArgumentReal(args, "gap", 1), 0.5);
}

// A placeholder that is misspelt in a usage text would let every value pass.
TEST(ReportArguments, NumbersOfTheTablesAreChecked) {
  const auto check = [](std::string_view name, std::string_view usage) {
    for (const std::string_view key : {"rows", "start", "end", "process", "thread", "gap",
                                       "threshold", "chunks", "bins", "ticks_threshold"}) {
      if (usage.find("[:" + std::string(key) + "=<") == usage.npos) continue;
      EXPECT_NE(Check({std::string(key) + "=x"}, usage), "") << name << ':' << key;
    }
  };
  for (const Report& report : Reports()) check(report.name, report.usage);
  for (const ExpertRule& rule : ExpertRules()) check(rule.name, rule.usage);
}

}  // namespace
}  // namespace batchlight::stats
