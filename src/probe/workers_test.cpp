#include "probe/workers.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "probe/interruption.h"

namespace batchlight::probe {
namespace {

TEST(Workers, EachWorksInAProcessOfItsOwn) {
  WorkersSpec spec;
  spec.workers = 5;
  spec.run = [](Turn& turn) {
    for (int i = 0; i <= turn.worker; ++i) turn.Measure([] { return int64_t{10}; });
    return getpid() == getppid() ? EIO : 0;
  };
  const auto done = RunWorkers("test", spec);
  ASSERT_TRUE(done.ok()) << done.status().message();
  EXPECT_EQ(done->operations, 15U);
  EXPECT_EQ(done->bytes, 150U);
  EXPECT_EQ(done->latencies.count(), 15U);
  EXPECT_GT(done->elapsed_ns, 0);
  EXPECT_EQ(done->error, 0);
}

TEST(Workers, NoneBeginsBeforeAllArePrepared) {
  WorkersSpec spec;
  spec.workers = 3;
  spec.prepare = [](Turn& turn) {
    usleep(turn.worker == 2 ? 200'000 : 0);
    return 0;
  };
  spec.run = [](Turn& turn) {
    turn.Measure([] { return int64_t{1}; });
    return 0;
  };
  const auto done = RunWorkers("test", spec);
  ASSERT_TRUE(done.ok());
  EXPECT_LT(done->elapsed_ns, 200'000'000) << "the preparation was measured";
}

TEST(Workers, StopWhenTheTimeIsUp) {
  WorkersSpec spec;
  spec.workers = 2;
  spec.seconds = 0.05;
  spec.run = [](Turn& turn) {
    while (!turn.TimeIsUp()) turn.Measure([] { return int64_t{usleep(1000)}; });
    return 0;
  };
  const auto done = RunWorkers("test", spec);
  ASSERT_TRUE(done.ok());
  EXPECT_GE(done->operations, 2U);
  EXPECT_LE(done->operations, 100U);
}

TEST(Workers, KeepWhatWasDoneBeforeAnError) {
  WorkersSpec spec;
  spec.run = [](Turn& turn) {
    turn.Measure([] { return int64_t{7}; });
    errno = ENOSPC;
    return turn.Measure([] { return int64_t{-1}; }) ? 0 : errno;
  };
  const auto done = RunWorkers("test", spec);
  ASSERT_TRUE(done.ok());
  EXPECT_EQ(done->bytes, 7U);
  EXPECT_EQ(done->operations, 1U);
  EXPECT_EQ(done->error, ENOSPC);
}

TEST(Workers, NoneBeginsIfOneCannotBePrepared) {
  WorkersSpec spec;
  spec.workers = 3;
  spec.prepare = [](Turn& turn) { return turn.worker == 1 ? EACCES : 0; };
  spec.run = [](Turn& turn) {
    turn.Measure([] { return int64_t{1}; });
    return 0;
  };
  const auto done = RunWorkers("reading /data", spec);
  ASSERT_TRUE(done.ok());
  EXPECT_EQ(done->error, EACCES);
  EXPECT_EQ(done->operations, 0U);
}

TEST(Workers, OneThatDiesIsAnError) {
  WorkersSpec spec;
  spec.workers = 2;
  spec.run = [](Turn& turn) { return turn.worker == 1 ? raise(SIGKILL) : 0; };
  const auto done = RunWorkers("reading", spec);
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.status().message(), "reading: a worker was ended by a signal: Killed");
}

TEST(Workers, OneThatHangsIsEnded) {
  WorkersSpec spec;
  spec.seconds = 0.01;
  spec.grace_seconds = 0.2;
  spec.run = [](Turn&) { return pause(); };
  const auto done = RunWorkers("reading", spec);
  ASSERT_FALSE(done.ok());
  EXPECT_TRUE(done.status().message().starts_with("reading: a worker hangs"))
      << done.status().message();
}

TEST(Workers, ASignalInterruptsThem) {
  const Interruption interruption;
  WorkersSpec spec;
  spec.seconds = 60;
  const pid_t parent = getpid();
  spec.run = [parent](Turn&) {
    kill(parent, SIGTERM);
    return pause();
  };
  const auto done = RunWorkers("reading", spec);
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.status().message(), "interrupted by Terminated");
  EXPECT_FALSE(RunWorkers("reading", spec).ok()) << "nothing begins after it";
}

}  // namespace
}  // namespace batchlight::probe
