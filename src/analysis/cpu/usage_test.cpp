#include "analysis/cpu/usage.h"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

namespace batchlight {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

class Usage : public testing::Test {
 protected:
  Usage() {
    store_.processes.Append({.pid = 1});
    store_.processes.Append({.pid = 2});
  }
  // Processor time in seconds.
  void Look(int64_t at_s, size_t process, double user_s, uint64_t bytes = 0,
            double first_waited_s = 0) {
    store_.process_usage.Append({.start_ns = at_s * kSecond,
                                 .process = ProcessId::At(process),
                                 .threads = 3,
                                 .user_ns = int64_t(user_s * kSecond),
                                 .memory_bytes = bytes,
                                 .first_waited_ns = int64_t(first_waited_s * kSecond),
                                 .processors = 4});
  }
  void LookAtMachine(int64_t at_s, double busy_s, uint32_t processors = 4, double tool_s = 0,
                     uint64_t throttled = 0) {
    store_.machine_usage.Append({.start_ns = at_s * kSecond,
                                 .processors = processors,
                                 .busy_ns = int64_t(busy_s * kSecond),
                                 .tool_ns = int64_t(tool_s * kSecond),
                                 .available_bytes = uint64_t(1000 - at_s),
                                 .group_limit = 2,
                                 .group_periods = uint64_t(at_s) * 10,
                                 .group_throttled_periods = throttled});
  }
  const UsageSeries* Find(const std::vector<UsageSeries>& all, std::string_view title) {
    for (const UsageSeries& series : all) {
      if (series.title == title) return &series;
    }
    return nullptr;
  }
  Store store_;
};

TEST_F(Usage, IsWhatGrewBetweenLooks) {
  Look(0, 0, 5, 100);
  Look(0, 1, 0, 7);
  Look(2, 0, 9, 300, 0.5);
  Look(4, 0, 10, 200, 0.5);
  const std::vector<ProcessUse> uses = SumProcessUse(store_);
  ASSERT_EQ(uses.size(), 2u);
  EXPECT_EQ(uses[0].process, ProcessId::At(0));
  EXPECT_EQ(uses[0].user_ns, 5.0 * kSecond);
  EXPECT_EQ(uses[0].looked_ns, 4.0 * kSecond);
  EXPECT_EQ(uses[0].Processors(), 1.25);
  EXPECT_EQ(uses[0].most_processors, 2);
  EXPECT_EQ(uses[0].peak_bytes, 300u);
  EXPECT_EQ(uses[0].last_bytes, 200u);
  EXPECT_EQ(uses[0].first_waited_ns, 0.5 * kSecond);
  EXPECT_EQ(uses[1].looked_ns, 0);
  EXPECT_EQ(uses[1].peak_bytes, 7u);
}

TEST_F(Usage, OfAStretchItIsThePartInside) {
  Look(0, 0, 0);
  Look(4, 0, 8);
  const std::vector<ProcessUse> uses = SumProcessUse(store_, {1 * kSecond, 2 * kSecond});
  ASSERT_EQ(uses.size(), 1u);
  EXPECT_EQ(uses[0].user_ns, 2.0 * kSecond);
  EXPECT_EQ(uses[0].looked_ns, 1.0 * kSecond);
}

TEST_F(Usage, BetweenCapturesNothingCounts) {
  store_.capture_windows.Append({.start_ns = 0, .end_ns = 1 * kSecond});
  store_.capture_windows.Append({.start_ns = 9 * kSecond, .end_ns = 10 * kSecond});
  Look(0, 0, 0);
  Look(1, 0, 1);
  Look(9, 0, 100);
  Look(10, 0, 102);
  const std::vector<ProcessUse> uses = SumProcessUse(store_);
  EXPECT_EQ(uses[0].user_ns, 3.0 * kSecond);
  EXPECT_EQ(uses[0].looked_ns, 2.0 * kSecond);
}

TEST_F(Usage, OthersHaveWhatNeitherProgramNorToolUsed) {
  Look(0, 0, 0);
  Look(2, 0, 3);
  LookAtMachine(0, 100);
  LookAtMachine(2, 107, 4, 1, 5);
  const MachineUse use = SumMachineUse(store_);
  EXPECT_EQ(use.processors, 4);
  EXPECT_EQ(use.busy_ns, 7.0 * kSecond);
  EXPECT_EQ(use.program_ns, 3.0 * kSecond);
  EXPECT_EQ(use.OthersNs(), 3.0 * kSecond);
  EXPECT_EQ(use.Processors(use.OthersNs()), 1.5);
  EXPECT_EQ(use.BusyShare(), 3.5 / 4);
  EXPECT_EQ(use.ThrottledShare(), 5.0 / 20);
  EXPECT_EQ(use.group_limit, 2);
  EXPECT_EQ(use.least_available_bytes, 998u);
}

TEST_F(Usage, OnlyAFullMachineIsCrowded) {
  Look(0, 0, 0);
  Look(1, 0, 2);
  LookAtMachine(0, 0);
  LookAtMachine(1, 3.9);
  EXPECT_TRUE(IsCrowded(SumMachineUse(store_)));
  EXPECT_FALSE(IsThrottled(SumMachineUse(store_)));
  store_.machine_usage.busy_ns[1] = 3 * kSecond;
  EXPECT_FALSE(IsCrowded(SumMachineUse(store_)));  // there is room
  EXPECT_FALSE(IsStolenFrom(SumMachineUse(store_)));
  store_.machine_usage.stolen_ns[1] = kSecond;
  EXPECT_TRUE(IsStolenFrom(SumMachineUse(store_)));
  store_.process_usage.user_ns[1] = 4 * kSecond;
  store_.machine_usage.busy_ns[1] = 4 * kSecond;
  EXPECT_FALSE(IsCrowded(SumMachineUse(store_)));  // the program itself fills it
  store_.machine_usage.group_throttled_periods[1] = 5;
  EXPECT_TRUE(IsThrottled(SumMachineUse(store_)));
}

TEST_F(Usage, OfOtherProcessorsNothingIsTold) {
  LookAtMachine(0, 100, 4);
  LookAtMachine(1, 10, 1);
  LookAtMachine(2, 11, 1);
  const MachineUse use = SumMachineUse(store_);
  EXPECT_EQ(use.processors, 1);
  EXPECT_EQ(use.busy_ns, 1.0 * kSecond);
}

// An import pins the thread for a moment; the machine line says 4.
TEST_F(Usage, TheProcessorsAreThoseOfMostOfTheTime) {
  LookAtMachine(0, 0, 4);
  LookAtMachine(10, 20, 4);
  LookAtMachine(11, 1, 1);
  LookAtMachine(12, 2, 1);
  const MachineUse use = SumMachineUse(store_);
  EXPECT_EQ(use.processors, 4);
  EXPECT_NEAR(use.BusyShare(), 21.0 / 41, 1e-9);
}

TEST_F(Usage, WithoutLooksNothingIsKnown) {
  EXPECT_TRUE(SumProcessUse(store_).empty());
  EXPECT_EQ(SumMachineUse(store_).looked_ns, 0);
  EXPECT_EQ(SumMachineUse(store_).BusyShare(), 0);
  EXPECT_TRUE(FindUsageSeries(store_).empty());
}

TEST_F(Usage, NumbersThatFallCountNothing) {
  Look(0, 0, 10);
  Look(1, 0, 5);
  LookAtMachine(0, 10);
  LookAtMachine(1, 5);
  EXPECT_EQ(SumProcessUse(store_)[0].user_ns, 0);
  EXPECT_EQ(SumMachineUse(store_).busy_ns, 0);
}

// "0:2 1:?": at which second which value begins.
std::string TextOf(const UsageSeries& series) {
  std::ostringstream text;
  for (const auto& [at_ns, value] : series.values) {
    text << (text.tellp() > 0 ? " " : "") << at_ns / kSecond << ':';
    if (std::isnan(value)) {
      text << '?';
    } else {
      text << value;
    }
  }
  return text.str();
}

TEST_F(Usage, SeriesHoldBetweenLooks) {
  Look(0, 0, 0, 100);
  Look(1, 0, 2, 300);
  Look(3, 0, 2, 300);
  LookAtMachine(0, 0);
  LookAtMachine(1, 3);
  LookAtMachine(3, 3);
  const StringId eth0 = store_.strings.Intern("eth0");
  for (const auto& [at_s, bytes] : {std::pair{0, 50u}, {3, 250u}}) {
    store_.network_usage.Append({.start_ns = at_s * kSecond,
                                 .process = ProcessId::At(0),
                                 .interface = eth0,
                                 .received_bytes = bytes});
  }
  const std::vector<UsageSeries> all = FindUsageSeries(store_);
  const UsageSeries* used = Find(all, "processors used");
  ASSERT_NE(used, nullptr);
  EXPECT_EQ(used->process, ProcessId::At(0));
  EXPECT_EQ(TextOf(*used), "0:2 1:0 3:?");
  const UsageSeries* memory = Find(all, "resident memory");
  ASSERT_NE(memory, nullptr);
  EXPECT_EQ(TextOf(*memory), "0:100 1:300 3:?");
  const UsageSeries* others = Find(all, "processors used by others");
  ASSERT_NE(others, nullptr);
  EXPECT_TRUE(others->process.IsNone());
  EXPECT_EQ(TextOf(*others), "0:1 1:0 3:?");
  const UsageSeries* received = Find(all, "network eth0 received");
  ASSERT_NE(received, nullptr);
  // It says nothing while it carries nothing: all came since the last look at the machine.
  EXPECT_EQ(TextOf(*received), "1:100 3:?");
  EXPECT_EQ(Find(all, "written to disks"), nullptr);
}

// Nobody looks between two captures.
TEST_F(Usage, BetweenCapturesNothingIsKnown) {
  for (const int64_t at_s : {0, 1, 5, 6}) Look(at_s, 0, double(at_s), 100);
  store_.capture_windows.Append({.capture_index = 0, .start_ns = 0, .end_ns = 2 * kSecond});
  store_.capture_windows.Append(
      {.capture_index = 1, .start_ns = 4 * kSecond, .end_ns = 7 * kSecond});
  const std::vector<UsageSeries> all = FindUsageSeries(store_);
  const UsageSeries* memory = Find(all, "resident memory");
  ASSERT_NE(memory, nullptr);
  EXPECT_EQ(TextOf(*memory), "0:100 1:? 5:100 6:?");
}

// Ticks of 10 ms, and a count that is read after the look's time: 2.2 of 2 processors, then less.
TEST_F(Usage, NoMoreProcessorsAreBusyThanThereAre) {
  LookAtMachine(0, 0, 2);
  LookAtMachine(1, 2.2, 2);
  LookAtMachine(2, 4.1, 2);
  LookAtMachine(3, 5, 2);
  const std::vector<UsageSeries> all = FindUsageSeries(store_);
  const UsageSeries* busy = Find(all, "processors busy");
  ASSERT_NE(busy, nullptr);
  ASSERT_EQ(busy->values.size(), 4u);
  EXPECT_DOUBLE_EQ(busy->values[0].second, 2);
  EXPECT_DOUBLE_EQ(busy->values[1].second, 2);
  EXPECT_NEAR(busy->values[2].second, 1, 1e-6);  // all that was counted is there
}

}  // namespace
}  // namespace batchlight
