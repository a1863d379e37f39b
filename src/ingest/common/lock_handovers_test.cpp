#include "ingest/common/lock_handovers.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace batchlight {
namespace {

class LockHandoversTest : public ::testing::Test {
 protected:
  LockHandoversTest() {
    for (size_t process = 0; process < 2; ++process) store_.processes.Append({});
    for (uint32_t thread = 0; thread < 4; ++thread) {
      store_.threads.Append({.process = ProcessId::At(thread / 3), .tid = 10 + thread});
    }
  }
  void Wait(size_t thread, int64_t start_ns, int64_t end_ns, uint32_t held_by,
            const char* call = "pthread_mutex_lock", int64_t result = 0, uint64_t object = 64) {
    store_.os_calls.Append({.start_ns = start_ns,
                            .end_ns = end_ns,
                            .thread = ThreadId::At(thread),
                            .name = store_.strings.Intern(call),
                            .result = result,
                            .object = object,
                            .released_by = held_by});
  }
  std::vector<uint32_t> Released() {
    FollowLockHandovers(store_);
    return store_.os_calls.released_by;
  }

  Store store_;
};

TEST_F(LockHandoversTest, TheLastThatGotItReleasedIt) {
  Wait(0, 20, 330, 99);  // 99 had it until 30, then 11 until 330
  Wait(1, 10, 30, 99);
  EXPECT_EQ(Released(), (std::vector<uint32_t>{11, 99}));
  EXPECT_EQ(Released(), (std::vector<uint32_t>{11, 99}));
}

TEST_F(LockHandoversTest, AllInTurn) {
  Wait(0, 10, 40, 99);
  Wait(1, 10, 20, 99);
  Wait(2, 10, 30, 99);
  EXPECT_EQ(Released(), (std::vector<uint32_t>{12, 99, 11}));
}

TEST_F(LockHandoversTest, NotWhoDidNotGetItOrGotItBefore) {
  Wait(0, 20, 330, 99);
  Wait(1, 10, 100, 99, "pthread_mutex_timedlock", ETIMEDOUT);
  Wait(1, 110, 120, 99, "pthread_mutex_lock", 0, 72);  // another mutex
  Wait(2, 5, 20, 98);                                  // as the first wait began
  Wait(3, 20, 30, 97);                                 // of another process, of this address
  EXPECT_EQ(Released(), (std::vector<uint32_t>{99, 12, 99, 98, 97}));
}

TEST_F(LockHandoversTest, ReadersShareALockAndSignalsAreNotPassedOn) {
  Wait(0, 20, 330, 99, "pthread_rwlock_wrlock");
  Wait(1, 10, 30, 99, "pthread_rwlock_rdlock");
  Wait(2, 20, 330, 99, "sem_wait", 0, 128);
  Wait(1, 40, 50, 99, "sem_wait", 0, 128);
  EXPECT_EQ(Released(), (std::vector<uint32_t>(4, 99)));
}

}  // namespace
}  // namespace batchlight
