#include "report/text/usage_text.h"

#include <gtest/gtest.h>

namespace batchlight {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

// Ten seconds on two processors.
Store StoreOf(double program, double others, uint64_t throttled = 0, double stolen = 0) {
  Store store;
  store.processes.Append({.pid = 1});
  for (const int64_t at_s : {0, 10}) {
    const auto used = [&](double processors) {
      return int64_t(processors * double(at_s * kSecond));
    };
    store.process_usage.Append({.start_ns = at_s * kSecond,
                                .process = ProcessId::At(0),
                                .user_ns = used(program),
                                .memory_bytes = uint64_t{3} << 29});
    store.machine_usage.Append({.start_ns = at_s * kSecond,
                                .processors = 2,
                                .busy_ns = used(program + others),
                                .stolen_ns = used(stolen),
                                .group_limit = 1.5,
                                .group_periods = uint64_t(at_s) * 10,
                                .group_throttled_periods = at_s == 0 ? 0 : throttled});
  }
  return store;
}

TEST(UsageText, SaysWhatWasUsedOfWhatThereIs) {
  EXPECT_EQ(UsageText(StoreOf(1.24, 0)),
            "used 1.24 of 2 processors, at most 1.50 GiB of memory in a process");
  EXPECT_EQ(UsageText(Store()), "");
}

TEST(UsageText, MemoryIsTheMostThatTheKernelKnows) {
  Store store = StoreOf(1, 0);
  store.machine_usage = {};
  const auto text_of = [&store](uint64_t bytes) {
    store.properties = {};
    store.properties.Append({.key = store.strings.Intern("session.peak_bytes"),
                             .value = store.strings.Intern(std::to_string(bytes))});
    return UsageText(store);
  };
  EXPECT_EQ(text_of(uint64_t{2} << 30), "at most 2.00 GiB of memory in a process");
  EXPECT_EQ(text_of(1 << 30), "at most 1.50 GiB of memory in a process");  // looks saw more
}

TEST(UsageText, OfSeveralRecordingsMemoryAlone) {
  Store store = StoreOf(1, 0);
  store.machine_usage = {};
  EXPECT_EQ(UsageText(store), "at most 1.50 GiB of memory in a process");
  EXPECT_EQ(OverloadText(store), "");
}

TEST(UsageText, AnOverloadIsSaidWithItsCause) {
  EXPECT_EQ(OverloadText(StoreOf(1, 0.2)), "");
  EXPECT_EQ(OverloadText(StoreOf(2, 0)), "");
  EXPECT_EQ(OverloadText(StoreOf(1, 0.9)),
            "other programs used 0.900 of the 2 processors meanwhile: times are longer than on a "
            "machine of its own, and vary");
  EXPECT_EQ(OverloadText(StoreOf(1, 0, 40)),
            "the limit of 1.50 processors stopped the program in 40.0 % of its periods: times are "
            "longer than without it");
  EXPECT_EQ(
      OverloadText(StoreOf(1, 0, 0, 0.5)),
      "the hypervisor gave 0.500 of the 2 processors to other machines: times are longer, and "
      "vary");
}

}  // namespace
}  // namespace batchlight
