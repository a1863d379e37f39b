#include "inject/rt/lock.h"

#include <gtest/gtest.h>

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
        ++count;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, 200000);
}

TEST(Lock, IsFreeInAForkedChild) {
  static Lock lock;
  lock.Acquire();
  g_fork_count.fetch_add(1);  // as in the child; its holder is not there to release it
  lock.Acquire();
  lock.Release();
}

}  // namespace
}  // namespace batchlight::inject
