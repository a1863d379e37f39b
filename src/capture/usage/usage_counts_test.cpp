#include <gtest/gtest.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <thread>
#include <vector>

#include "capture/usage/children_time.h"
#include "capture/usage/machine_counts.h"
#include "capture/usage/network_counts.h"
#include "capture/usage/process_counts.h"

namespace batchlight::capture {
namespace {

constexpr uint64_t kMs = 1'000'000;

void Spin(int64_t cpu_ns) {
  timespec now{};
  do {
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  } while (int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec < cpu_ns);
}

// A process that has spun for `cpu_ns` and waits, until this object ends.
class Spinner {
 public:
  explicit Spinner(int64_t cpu_ns) {
    int ready[2];
    EXPECT_EQ(pipe(ready), 0);
    pid_ = fork();
    if (pid_ == 0) {
      Spin(cpu_ns);
      (void)!write(ready[1], "x", 1);
      pause();
    }
    char byte = 0;
    EXPECT_EQ(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
  }
  ~Spinner() { End(); }
  void End() {
    if (pid_ > 0) kill(pid_, SIGKILL);
    if (pid_ > 0) waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
};

TEST(ProcessCounts, ProcessorTimeIsThatOfTheClock) {
  Spinner spinner(50 * kMs);
  ProcessCounts counts(spinner.pid());
  format::ProcessUsageRecord usage{};
  ASSERT_TRUE(counts.Read(true, usage));
  EXPECT_EQ(usage.pid, static_cast<uint32_t>(spinner.pid()));
  EXPECT_EQ(usage.threads, 1u);
  EXPECT_GE(usage.user_ns + usage.system_ns, 50 * kMs);
  EXPECT_LT(usage.user_ns + usage.system_ns, 5000 * kMs);
  EXPECT_GT(usage.resident_bytes, 100'000u);
  EXPECT_GT(usage.processors, 0u);
}

TEST(ProcessCounts, OfAProcessThatIsGoneThereAreNone) {
  Spinner spinner(0);
  ProcessCounts counts(spinner.pid());
  format::ProcessUsageRecord usage{};
  ASSERT_TRUE(counts.Read(true, usage));
  spinner.End();
  EXPECT_FALSE(counts.Read(true, usage));
}

TEST(ProcessCounts, ChildrenAndNamesAreTheKernels) {
  Spinner spinner(0);
  ProcessCounts mine(getpid()), its(spinner.pid());
  std::vector<pid_t> children;
  mine.AddChildren(children);
  if (children.empty()) GTEST_SKIP() << "this kernel does not list children";
  EXPECT_NE(std::find(children.begin(), children.end(), spinner.pid()), children.end());
  format::ProcessUsageRecord usage{};
  ASSERT_TRUE(its.Read(true, usage));
  EXPECT_EQ(its.parent(), getpid());
  EXPECT_EQ(its.name() + "\n", KernelFile("/proc/self/comm").Read());
}

TEST(ProcessCounts, NeverFall) {
  ProcessCounts counts(getpid());
  format::ProcessUsageRecord last{};
  for (int round = 0; round < 200; ++round) {
    format::ProcessUsageRecord usage{};
    ASSERT_TRUE(counts.Read(true, usage));
    ASSERT_GE(usage.user_ns, last.user_ns);
    ASSERT_GE(usage.system_ns, last.system_ns);
    last = usage;
  }
  EXPECT_GT(last.user_ns + last.system_ns, 0u);
}

TEST(ProcessCounts, OfProgramsThatItHasWaitedForTheTimeIsTold) {
  ProcessCounts counts(getpid());
  format::ProcessUsageRecord usage{};
  ASSERT_TRUE(counts.Read(true, usage));
  const ProcessorTimes before = counts.waited_for();
  { Spinner spinner(200 * kMs); }
  ASSERT_TRUE(counts.Read(true, usage));
  const ProcessorTimes after = counts.waited_for();
  EXPECT_GE(after.user_ns + after.system_ns, before.user_ns + before.system_ns + 150 * kMs);
}

TEST(ChildrenTime, IsWithoutWhatOtherRecordsTell) {
  ChildrenTime time;
  EXPECT_EQ(time.Untold(500), 0u);  // before the first look
  EXPECT_EQ(time.Untold(700), 200u);
  time.Told(1000);  // seen to be gone before it was waited for
  EXPECT_EQ(time.Untold(700), 200u);
  EXPECT_EQ(time.Untold(1750), 250u);  // of the child itself 50 more than was told
  EXPECT_EQ(time.Untold(1650), 250u);  // never falls
  EXPECT_EQ(time.Untold(1850), 350u);
  time.Told(30);  // looked at shortly before
  EXPECT_EQ(time.Untold(1900), 370u);
  EXPECT_EQ(time.all_told_ns(), 1030u);
}

TEST(ProcessCounts, BytesFromDisksAreThoseOfStorage) {
  ProcessCounts counts(getpid());
  format::ProcessUsageRecord before{}, after{};
  ASSERT_TRUE(counts.Read(true, before));
  char name[] = "/var/tmp/bl_usage_XXXXXX";
  const int fd = mkstemp(name);
  ASSERT_GE(fd, 0);
  const std::vector<char> bytes(1 << 20, 'x');
  ASSERT_EQ(write(fd, bytes.data(), bytes.size()), 1 << 20);
  close(fd);
  unlink(name);
  ASSERT_TRUE(counts.Read(true, after));
  if (!KernelFile("/proc/self/io").Read().starts_with("rchar")) {
    GTEST_SKIP() << "this kernel does not count bytes from and to disks";
  }
  // A file system in memory has no storage.
  EXPECT_TRUE(after.written_bytes == before.written_bytes ||
              after.written_bytes >= before.written_bytes + (1 << 20));
}

TEST(MachineCounts, AreThoseOfTheProcessorsThatTheProgramMayRunOn) {
  MachineCounts counts(getpid());
  format::MachineUsageRecord before{}, after{};
  counts.Read(before);
  Spin(100 * kMs);
  counts.Read(after);
  cpu_set_t mine;
  ASSERT_EQ(sched_getaffinity(0, sizeof mine, &mine), 0);
  EXPECT_EQ(after.processors, static_cast<uint32_t>(CPU_COUNT(&mine)));
  EXPECT_GE(after.runnable, 1u);
  EXPECT_GT(after.busy_ns, 0u);
  EXPECT_GE(after.busy_ns, before.busy_ns);
  EXPECT_GE(after.tool_ns, 100 * kMs);
  EXPECT_GT(after.available_bytes, 1'000'000u);
}

TEST(KernelFile, OfAListThatIsLongerThanAPageAllIsRead) {
  char name[] = "/tmp/bl_list_XXXXXX";
  const int fd = mkstemp(name);
  ASSERT_GE(fd, 0);
  close(fd);
  const std::string text(100'000, 'x');
  std::ofstream(name) << text << "end";
  KernelFile file(name);
  EXPECT_EQ(file.Read(), text + "end");
  EXPECT_EQ(file.Read().size(), text.size() + 3);  // and again
  unlink(name);
  EXPECT_EQ(KernelFile("/nowhere").Read(), "");
}

TEST(NetworkCounts, InterfacesAreReadFromTheKernelsList) {
  std::map<std::string, InterfaceBytes> seen;
  const auto take = [&](std::string_view name, const InterfaceBytes& bytes) {
    seen[std::string(name)] = bytes;
  };
  VisitInterfaces(
      "Inter-|   Receive              |  Transmit\n"
      " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets\n"
      "    lo: 12 3 0 0 0 0 0 0 13 3 0 0 0 0 0 0\n"
      "enp1s0:4624336646 100423 0 0 0 0 0 0 5096495 68049 0 0 0 0 0 0\n"
      "cut: 5\n"
      "no colon\n:\n",
      take);
  EXPECT_EQ(seen["lo"], (InterfaceBytes{12, 13}));
  EXPECT_EQ(seen["enp1s0"], (InterfaceBytes{4624336646, 5096495}));
  EXPECT_EQ(seen["cut"], (InterfaceBytes{5, 0}));
}

TEST(NetworkCounts, ANamespaceIsReadOnce) {
  Spinner other(0);
  NetworkCounts network;
  network.AddProcess(getpid());
  network.AddProcess(other.pid());
  std::map<std::string, int> times;
  network.Read(true, [&](pid_t pid, std::string_view name, const InterfaceBytes&) {
    EXPECT_EQ(pid, getpid());
    ++times[std::string(name)];
  });
  for (const auto& [name, count] : times) EXPECT_EQ(count, 1) << name;
}

}  // namespace
}  // namespace batchlight::capture
