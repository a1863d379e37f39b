#include "analysis/advice/order.h"

#include <gtest/gtest.h>

#include <string_view>

namespace batchlight::advice {
namespace {

// Saves so much of the run, and of each step.
Finding Saves(std::string_view rule, double share, FindingKind kind = FindingKind::kCause) {
  return {.rule = rule,
          .gain_ns = 1000 * share,
          .kind = kind,
          .run_share = share,
          .step_share = kind == FindingKind::kCause ? share : 0};
}

std::vector<std::string_view> OrderOf(std::vector<Finding> findings) {
  PutInOrder(&findings);
  std::vector<std::string_view> rules;
  for (const Finding& finding : findings) rules.push_back(finding.rule);
  return rules;
}

TEST(FindingOrder, WhatSavesMoreOfTheRunComesFirst) {
  EXPECT_EQ(OrderOf({Saves("host-sync", 0.1), Saves("python-work", 0.3)}),
            (std::vector<std::string_view>{"python-work", "host-sync"}));
}

TEST(FindingOrder, CausesOfTheLoopThenOtherOnesThenTheMachineThenSymptoms) {
  EXPECT_EQ(OrderOf({Saves("gpu-underused", 0.9, FindingKind::kSymptom),
                     Saves("cpu-taken", 0.8, FindingKind::kMachine),
                     Saves("set-up-cost", 0.7, FindingKind::kOnce), Saves("host-sync", 0.001),
                     Saves("python-work", 0.3)}),
            (std::vector<std::string_view>{"python-work", "set-up-cost", "host-sync", "cpu-taken",
                                           "gpu-underused"}));
}

// Every eager program is told to compile: a cause of its own stands above what that may gain.
TEST(FindingOrder, WhatEveryProgramIsToldCountsWithWhatItSavesAtLeast) {
  for (const std::string_view rule : {"launch-bound", "unfused-pointwise"}) {
    Finding sure = Saves(rule, 0.3), unsure = Saves(rule, 0.3);
    sure.uncertainty_ns = 0.1 * sure.gain_ns;
    unsure.uncertainty_ns = 0.5 * unsure.gain_ns;
    EXPECT_EQ(OrderOf({Saves("amp-off", 0.2), sure}).front(), rule);
    EXPECT_EQ(OrderOf({unsure, Saves("amp-off", 0.2)}).front(), "amp-off");
  }
}

}  // namespace
}  // namespace batchlight::advice
