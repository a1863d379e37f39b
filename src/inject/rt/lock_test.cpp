#include "inject/rt/lock.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

namespace batchlight::inject {
namespace {

TEST(Lock, KeepsThreadsApart) {
  static Lock lock;
  int64_t count = 0;  // not atomic
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&count] {
      for (int n = 0; n < 50000; ++n) {
        Locked locked(lock);
        ASSERT_TRUE(locked);
        ++count;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, 200000);
}

TEST(Lock, IsFreeInAForkedChild) {
  static Lock lock;
  ASSERT_TRUE(lock.Acquire());
  g_fork_count.fetch_add(1);  // as in the child; its holder is not there to release it
  ASSERT_TRUE(lock.Acquire());
  lock.Release();
}

TEST(Lock, OfAThreadThatIsGoneIsTaken) {
  static Lock lock;
  std::thread([] { ASSERT_TRUE(lock.Acquire()); }).join();
  ASSERT_TRUE(lock.Acquire());
  lock.Release();
}

TEST(Lock, IsGivenUpAfterASecondAndOnlyOnce) {
  static Lock lock;
  std::atomic<bool> done{false};
  std::atomic<bool> held{false};
  std::thread holder([&] {  // hangs, as in a file system that does not answer
    ASSERT_TRUE(lock.Acquire());
    held = true;
    while (!done) usleep(1000);
    lock.Release();
  });
  while (!held) usleep(1000);
  EXPECT_FALSE(lock.Acquire());
  const int64_t before = sys::Nanoseconds(CLOCK_MONOTONIC);
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(lock.Acquire());
  // A hundred seconds if each of them waited; one, on a machine without a free processor.
  EXPECT_LT(sys::Nanoseconds(CLOCK_MONOTONIC) - before, 20'000'000'000);
  done = true;
  holder.join();
  ASSERT_TRUE(lock.Acquire());  // it answered after all
  lock.Release();
}

TEST(Lock, DoesNotWaitForItself) {
  static Lock lock;
  ASSERT_TRUE(lock.Acquire());
  EXPECT_FALSE(lock.Acquire());  // a signal handler in the middle
  lock.Release();
  ASSERT_TRUE(lock.Acquire());
  lock.Release();
}

}  // namespace
}  // namespace batchlight::inject
