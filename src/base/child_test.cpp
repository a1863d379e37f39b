#include "base/child.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

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

// What lies in the present folder may be anybody's.
TEST(FindOwnProgram, LooksInAbsoluteFoldersAlone) {
  namespace fs = std::filesystem;
  const fs::path before = fs::current_path();
  const std::string path = std::getenv("PATH"), folder = testing::TempDir() + "own_program";
  fs::create_directories(folder);
  fs::current_path(folder);
  std::ofstream("sh") << "#!/bin/sh\necho present\n";
  fs::permissions("sh", fs::perms::owner_all);
  const std::string real = fs::exists("/usr/bin/sh") ? "/usr/bin/sh" : "/bin/sh";
  for (const char* entries : {":/usr/bin:/bin", ".:/usr/bin:/bin:", "/usr/bin::/bin"}) {
    setenv("PATH", entries, 1);
    EXPECT_EQ(FindOwnProgram("sh"), real);
    EXPECT_EQ(RunAndRead({.words = {"sh", "-c", "echo $PATH"}}).text, "/usr/bin:/bin\n");
  }
  setenv("PATH", ":/usr/bin:/bin", 1);
  EXPECT_EQ(RunAndRead({.words = {"sh", "-c", "echo $PATH"}, .is_users = true}).text, "present\n");
  EXPECT_EQ(
      RunAndRead({.words = {"sh", "-c", "echo $PATH"}, .path = "/bin/sh", .is_users = true}).text,
      ":/usr/bin:/bin\n");
  setenv("PATH", "", 1);
  EXPECT_EQ(FindOwnProgram("sh"), real);
  setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(FindOwnProgram("no-such-program"), "");
  EXPECT_EQ(FindOwnProgram(""), "");
  EXPECT_EQ(FindOwnProgram("./sh"), "./sh");
  EXPECT_EQ(RunAndRead({.words = {"no-such-program"}}).error, ENOENT);
  fs::current_path(before);
  fs::remove_all(folder);
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
