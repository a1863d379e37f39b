// Who has the processors while the training waits.
#include <gtest/gtest.h>

#include "analysis/testing/findings.h"

namespace batchlight {
namespace {

using testing::FindRule;
using testing::kMs;
using testing::StoreBuilder;
constexpr int64_t kSecond = 1000 * kMs;

// Two seconds of steps of 10 ms on four processors.
struct Machine {
  double training = 1;  // processors used
  double workers = 0;
  double others = 0;
  double waited = 0.2;  // by the training thread, of the time
  double throttled = 0;
  uint32_t allowed = 4;
};

std::vector<Finding> FindingsOn(const Machine& machine) {
  StoreBuilder build;
  const ProcessId process = build.Process(7, "train.py");
  const ThreadId thread = build.Thread(process);
  build.store().threads.tid[thread.row()] = 7;
  const ProcessId worker = build.Process(8, "worker");
  for (int64_t i = 0; i < 200; ++i) {
    build.Range(thread, "step", i * 10 * kMs, (i + 1) * 10 * kMs - 1000);
  }
  for (int64_t at_ns = 0; at_ns <= 2 * kSecond; at_ns += 100 * kMs) {
    const auto part = [&](double processors) { return int64_t(processors * double(at_ns)); };
    build.store().process_usage.Append({.start_ns = at_ns,
                                        .process = process,
                                        .user_ns = part(machine.training),
                                        .first_ran_ns = part(0.7),
                                        .first_waited_ns = part(machine.waited),
                                        .processors = machine.allowed});
    build.store().process_usage.Append(
        {.start_ns = at_ns, .process = worker, .user_ns = part(machine.workers), .processors = 4});
    build.store().machine_usage.Append(
        {.start_ns = at_ns,
         .processors = 4,
         .busy_ns = part(machine.training + machine.workers + machine.others),
         .group_limit = machine.throttled > 0 ? 2.0 : 0.0,
         .group_periods = uint64_t(at_ns / (100 * kMs)),
         .group_throttled_periods = uint64_t(double(at_ns / (100 * kMs)) * machine.throttled)});
  }
  const Store store = build.Build();
  return BuildOverview(store).findings;
}

constexpr const char* kRules[] = {"cpu-limit", "cpu-taken", "cpu-oversubscribed"};

// The one that fired, of these rules; nullptr: none, or several.
const Finding* Only(const std::vector<Finding>& findings, std::string_view rule) {
  for (const char* other : kRules) {
    if (other == rule) continue;
    EXPECT_EQ(FindRule(findings, other), nullptr) << other;
  }
  return FindRule(findings, rule);
}

TEST(ProcessorRules, OthersThatFillTheMachineAreNamed) {
  const auto findings = FindingsOn({.training = 1, .others = 3});
  const Finding* found = Only(findings, "cpu-taken");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->title, "Other programs take 3 of the 4 processors");
  EXPECT_NE(found->seen.find("in 20 % of the time"), std::string::npos) << found->seen;
  EXPECT_NEAR(found->gain_ns, 0.8 * 0.2 * 10 * kMs, 0.05 * kMs);
}

TEST(ProcessorRules, WhatOthersDoStandsBelowWhatTheProgramDoes) {
  std::vector<Finding> findings = FindingsOn({.training = 1, .others = 3});
  ASSERT_EQ(Only(findings, "cpu-taken")->rank, FindingRank::kMachine);
  EXPECT_LT(FindingRank::kOther, FindingRank::kMachine);
  Finding own{.rule = "padding", .gain_ns = 1, .step_share = 0.1};
  findings = {own, *Only(findings, "cpu-taken")};
  EXPECT_EQ(GainTogether(findings).share, 0) << "one gain adds up with nothing";
}

TEST(ProcessorRules, ItsOwnWorkersAreNamed) {
  const auto findings = FindingsOn({.training = 1, .workers = 3});
  const Finding* found = Only(findings, "cpu-oversubscribed");
  ASSERT_NE(found, nullptr);
  EXPECT_NE(found->seen.find("worker 3, train.py 1"), std::string::npos) << found->seen;
  EXPECT_NEAR(found->gain_ns, 0.5 * 0.2 * 10 * kMs, 0.05 * kMs);
}

TEST(ProcessorRules, AProcessMayBeKeptToFewerProcessors) {
  const auto findings = FindingsOn({.training = 1, .allowed = 1});
  const Finding* found = Only(findings, "cpu-oversubscribed");
  ASSERT_NE(found, nullptr);
  EXPECT_NE(found->seen.find("Of 1 processor,"), std::string::npos) << found->seen;
}

TEST(ProcessorRules, ALimitComesBeforeOthers) {
  const auto findings = FindingsOn({.training = 2, .others = 2, .throttled = 0.5});
  const Finding* found = Only(findings, "cpu-limit");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->title, "A limit of 2 processors keeps the training from running");
  EXPECT_NE(found->seen.find("In 50 % of its periods"), std::string::npos) << found->seen;
}

TEST(ProcessorRules, WhoDoesNotWaitIsNotInTheWayOfAnybody) {
  for (const Machine& machine :
       {Machine{.training = 1, .others = 3, .waited = 0.01},
        Machine{.training = 1, .workers = 3, .waited = 0.01},
        Machine{.training = 2, .waited = 0.01, .throttled = 0.5},
        // It waits, but there is room: bursts, or turns of its own.
        Machine{.training = 1, .others = 1}, Machine{.training = 1, .workers = 1}}) {
    const auto findings = FindingsOn(machine);
    for (const char* rule : kRules) EXPECT_EQ(FindRule(findings, rule), nullptr) << rule;
  }
}

}  // namespace
}  // namespace batchlight
