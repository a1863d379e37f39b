#include "base/child.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace batchlight {
namespace {

TEST(RunAndRead, GivesOutputAndEnd) {
  const ChildOutput output = RunAndRead({.words = {"sh", "-c", "echo out; exit 3"}});
  EXPECT_EQ(output.error, 0);
  EXPECT_EQ(output.text, "out\n");
  EXPECT_EQ(ShellExitCode(output.wait_status), 3);
  const ChildOutput killed = RunAndRead({.words = {"sh", "-c", "kill -9 $$"}});
  EXPECT_EQ(ShellExitCode(killed.wait_status), 128 + SIGKILL);
}

TEST(RunAndRead, SaysWhyNothingRan) {
  EXPECT_EQ(RunAndRead({.words = {"/nowhere/tool"}}).error, ENOENT);
}

TEST(RunAndRead, MayRunAFileUnderAnotherName) {
  const ChildOutput output = RunAndRead({.words = {"other", "-c", "echo $0"}, .path = "/bin/sh"});
  EXPECT_EQ(output.text, "other\n");
}

TEST(RunAndRead, ReplacesVariables) {
  setenv("CHILD_TEST", "old", 1);
  const ChildOutput output = RunAndRead(
      {.words = {"sh", "-c", "env | grep ^CHILD_TEST"}, .variables = {{"CHILD_TEST", "new"}}});
  unsetenv("CHILD_TEST");
  EXPECT_EQ(output.text, "CHILD_TEST=new\n");
}

TEST(RunAndRead, GivesInput) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  ASSERT_EQ(write(ends[1], "in", 2), 2);
  close(ends[1]);
  EXPECT_EQ(RunAndRead({.words = {"cat"}, .input_fd = ends[0]}).text, "in");
  close(ends[0]);
}

TEST(RunAndFeed, GivesWhatIsWritten) {
  const FedChild child = RunAndFeed({.words = {"sh", "-c", "test \"$(cat)\" = in && exit 3"}},
                                    [](std::FILE* input) { std::fputs("in", input); });
  EXPECT_EQ(child.error, 0);
  EXPECT_EQ(ShellExitCode(child.wait_status), 3);
}

TEST(RunAndFeed, OutlivesAProgramThatDoesNotRead) {
  bool failed = false;
  const FedChild child = RunAndFeed({.words = {"true"}}, [&](std::FILE* input) {
    const std::string block(1 << 16, 'x');
    for (int i = 0; i < 64 && !failed; ++i) {
      failed = std::fwrite(block.data(), 1, block.size(), input) != block.size();
    }
  });
  EXPECT_TRUE(failed);
  EXPECT_EQ(child.wait_status, 0);
}

TEST(RunAndFeed, WritesNothingWhereNothingRan) {
  bool asked = false;
  EXPECT_EQ(RunAndFeed({.words = {"/nowhere/tool"}}, [&](std::FILE*) { asked = true; }).error,
            ENOENT);
  EXPECT_FALSE(asked);
}

// The tool blocks signals while a session runs, and ignores SIGPIPE.
TEST(StartChild, GivesTheSignalsThatAreAskedFor) {
  sigset_t term;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  sigset_t before;
  sigprocmask(SIG_BLOCK, &term, &before);
  const auto old_handler = std::signal(SIGPIPE, SIG_IGN);
  const ChildSpec blocked{.words = {"sh", "-c", "kill $$; exit 5"}};
  ChildSpec restored = blocked;
  restored.signal_mask = before;
  EXPECT_EQ(ShellExitCode(WaitForChild(StartChild(blocked).pid)), 5);
  EXPECT_EQ(ShellExitCode(WaitForChild(StartChild(restored).pid)), 128 + SIGTERM);
  restored.words = {"sh", "-c", "kill -s PIPE $$; exit 5"};
  EXPECT_EQ(ShellExitCode(WaitForChild(StartChild(restored).pid)), 128 + SIGPIPE);
  std::signal(SIGPIPE, old_handler);
  sigprocmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace
}  // namespace batchlight
