#include "capture/loop/cpu_limit.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

namespace batchlight::capture {
namespace {

// Blocked, as in a tool that relays signals. It works for so many seconds by its own account, which
// may be ahead of the kernel's for the limit: that counts ticks, and a busy virtual machine has
// fewer of them.
int EndOfOneThatWorks(rlimit limit, time_t seconds, std::string& said) {
  int ends[2];
  if (pipe(ends) != 0) return -1;
  const pid_t tool = fork();
  if (tool == 0) {
    dup2(ends[1], STDERR_FILENO);
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, nullptr);
    setrlimit(RLIMIT_CPU, &limit);
    RaiseCpuLimit();
    EndAtCpuLimit(7, "run.batchlight is there");
    rusage used{};
    while (getrusage(RUSAGE_SELF, &used), used.ru_utime.tv_sec + used.ru_stime.tv_sec < seconds) {
    }
    _exit(1);
  }
  close(ends[1]);
  char text[200];
  for (ssize_t bytes = 0; (bytes = read(ends[0], text, sizeof text)) > 0;) {
    said.append(text, static_cast<size_t>(bytes));
  }
  close(ends[0]);
  int status = -1;
  waitpid(tool, &status, 0);
  return status;
}

TEST(CpuLimit, EndsTheToolBeforeTheKernelDoes) {
  std::string said;
  const int status = EndOfOneThatWorks({1, 2}, 60, said);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 7);
  EXPECT_EQ(said,
            "batchlight: the limit of processor time (ulimit -t) ends the tool here: "
            "run.batchlight is there\n");
}

TEST(CpuLimit, OfTheSoftOneNothingIsFelt) {
  std::string said;
  EXPECT_EQ(WEXITSTATUS(EndOfOneThatWorks({1, RLIM_INFINITY}, 2, said)), 1);
  EXPECT_EQ(said, "");
}

}  // namespace
}  // namespace batchlight::capture
