#include "base/memory_budget.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

namespace batchlight {
namespace {

TEST(CheckMemory, SaysHowMuchIsNeededAndWhatToDo) {
  setenv("BATCHLIGHT_MEMORY", "2000000000", 1);
  EXPECT_TRUE(CheckMemory("run.batchlight", 2'000'000'000).ok());
  const Status status = CheckMemory("run.batchlight", 4'500'000'000);
  unsetenv("BATCHLIGHT_MEMORY");
  EXPECT_EQ(status.exit_code(), 3);
  EXPECT_NE(status.message().find("run.batchlight: it needs about 4.5 GB"), std::string::npos);
  EXPECT_NE(status.message().find("2.0 GB are free"), std::string::npos);
}

TEST(MemoryWatch, StopsAtAThirdOfWhatWasFree) {
  setenv("BATCHLIGHT_MEMORY", "100000000", 1);
  const MemoryWatch watch("trace.json");
  EXPECT_TRUE(watch.Check().ok());
  std::vector<char> taken(80'000'000, 1);
  const Status status = watch.Check();
  unsetenv("BATCHLIGHT_MEMORY");
  EXPECT_EQ(taken.back(), 1);
  EXPECT_EQ(status.exit_code(), 3);
  EXPECT_NE(status.message().find("cannot read trace.json: a part of it took 0."),
            std::string::npos)
      << status.message();
  EXPECT_NE(status.message().find("BATCHLIGHT_MEMORY"), std::string::npos);
}

TEST(AvailableMemory, IsNoMoreThanTheAddressSpaceAllows) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer's shadow takes more address space than any limit allows";
#endif
  EXPECT_GT(AvailableMemoryBytes(), 1u << 20);
  const auto run = [] {
    const rlimit limit{uint64_t{1} << 33, uint64_t{1} << 33};
    if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(2);
    _exit(AvailableMemoryBytes() < uint64_t{1} << 33 ? 0 : 1);
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace batchlight
