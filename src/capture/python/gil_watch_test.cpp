#include "capture/python/gil_watch.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string>
#include <vector>

namespace batchlight::capture {
namespace {

// As CPython lays it out, with conditions and mutexes of glibc's size.
struct Gil {
  uint64_t interval_us = 5000;
  uint64_t last_holder = 0;
  uint64_t locked = 1;
  uint64_t switch_number = 77;
  uint8_t cond[48] = {};
  uint8_t mutex[40] = {};
  uint8_t switch_cond[48] = {};
  uint8_t switch_mutex[40] = {};
};

class GilWatchTest : public testing::Test {
 protected:
  GilWatchTest() { memory_.gil.last_holder = threads_[1].state; }
  static uint64_t At(const void* place) { return reinterpret_cast<uint64_t>(place); }
  GilWatch::Holder Find(const void* futex) { return watch_.Find(target_, At(futex), threads_); }

  struct Memory {
    uint64_t before[64] = {};
    Gil gil;
    uint64_t between[64] = {};
    uint8_t other_cond[48] = {};
  };
  Memory memory_;
  std::vector<PythonThread> threads_{{.tid = 10, .state = 0x7f0000001000},
                                     {.tid = 11, .state = 0x7f0000002000}};
  TargetMemory target_{getpid()};
  GilWatch watch_;
};

TEST_F(GilWatchTest, ItsHolderStandsBeforeWhereOthersWait) {
  for (const uint8_t* futex :
       {memory_.gil.cond + 40, memory_.gil.mutex, memory_.gil.switch_cond + 44}) {
    GilWatch watch;
    const GilWatch::Holder holder = watch.Find(target_, At(futex), threads_);
    EXPECT_TRUE(holder.found);
    EXPECT_EQ(holder.tid, 11u);
  }
}

TEST_F(GilWatchTest, OnceKnownItIsReadAgain) {
  EXPECT_EQ(Find(memory_.gil.cond + 40).tid, 11u);
  memory_.gil.last_holder = threads_[0].state;
  EXPECT_EQ(Find(memory_.gil.cond + 40).tid, 10u);
  memory_.gil.locked = 0;  // given up, and not yet taken
  EXPECT_TRUE(Find(memory_.gil.cond + 40).found);
  EXPECT_EQ(Find(memory_.gil.cond + 40).tid, 0u);
}

TEST_F(GilWatchTest, OtherConditionsAreNotIt) {
  EXPECT_FALSE(Find(memory_.other_cond + 40).found);
  EXPECT_TRUE(Find(memory_.gil.cond + 40).found);
  EXPECT_FALSE(Find(memory_.other_cond + 40).found);
  // A lock behind the address of a thread state that is no GIL's.
  memory_.between[60] = threads_[0].state;
  EXPECT_FALSE(Find(memory_.other_cond + 40).found);
  memory_.gil.last_holder = 0x1234;  // a thread that is not known
  GilWatch watch;
  EXPECT_FALSE(watch.Find(target_, At(memory_.gil.cond + 40), threads_).found);
}

TEST_F(GilWatchTest, MemoryThatIsNotThereHasNone) {
  EXPECT_FALSE(watch_.Find(target_, 8, threads_).found);
  EXPECT_FALSE(watch_.Find(target_, uint64_t{1} << 62, threads_).found);
}

TEST(FutexOf, IsTheFirstArgumentOfThatCall) {
  EXPECT_EQ(FutexOf("running\n"), 0u);
  EXPECT_EQ(FutexOf(""), 0u);
  EXPECT_EQ(FutexOf("-1 0x7ffd 0x7f01\n"), 0u);
  EXPECT_EQ(FutexOf("0 0x3 0x7f 0x400 0x0 0x0 0x0 0x7ffc 0x7f22\n"), 0u);
  const std::string futex = std::to_string(SYS_futex) + " 0x7f2288000ba0 0x189 0x0\n";
  EXPECT_EQ(FutexOf(futex.c_str()), 0x7f2288000ba0u);
}

}  // namespace
}  // namespace batchlight::capture
