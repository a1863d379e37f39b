#include "base/thread_pool.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <new>
#include <vector>

namespace batchlight {
namespace {

TEST(ParallelFor, RunsEachIndexOnce) {
  std::vector<std::atomic<int>> seen(1000);
  ParallelFor(seen.size(), [&](size_t i) { ++seen[i]; });
  for (const auto& count : seen) EXPECT_EQ(count, 1);
}

TEST(ParallelFor, NestsOnTheCaller) {
  std::atomic<int> total{0};
  ParallelFor(8, [&](size_t) { ParallelFor(8, [&](size_t) { ++total; }); });
  EXPECT_EQ(total, 64);
}

TEST(ParallelFor, ZeroIsFine) {
  ParallelFor(0, [](size_t) { FAIL(); });
}

TEST(ParallelFor, CarriesTheFirstErrorOutOfItsWorkers) {
  std::atomic<int> done = 0;
  const auto body = [&](size_t i) {
    if (i == 3) throw std::bad_alloc();
    done.fetch_add(1);
  };
  EXPECT_THROW(ParallelFor(1'000'000, body), std::bad_alloc);
  EXPECT_LT(done, 1'000'000);
  done = 0;
  ParallelFor(100, [&](size_t) { done.fetch_add(1); });
  EXPECT_EQ(done, 100);
}

// In a process of its own, which may have no thread beyond its first.
TEST(ParallelFor, DoesWithoutThreadsWhereNoneCanBeStarted) {
  const auto run = [] {
    const rlimit none{0, 0};
    if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0) _exit(2);  // root has no limit
    if (setrlimit(RLIMIT_NPROC, &none) != 0) _exit(3);
    std::atomic<int> done = 0;
    ParallelFor(100, [&](size_t) { done.fetch_add(1); });
    _exit(done == 100 ? 0 : 1);
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace batchlight
