#include "cli/engines/line_children.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "base/child.h"

namespace batchlight::cli {
namespace {

TEST(LineChildren, GivesLinesAndEnds) {
  LineChildren children;
  ASSERT_TRUE(
      children.Start(1, {"sh", "-c", "echo a; echo why >&2; printf 'b\\nrest'; exit 3"}).ok());
  ASSERT_TRUE(children.Start(2, {"sh", "-c", "sleep 0.1; kill -9 $$"}).ok());
  std::string lines;
  int ends = 0;
  while (children.any()) {
    const LineChildren::Event event = children.Next();
    if (!event.ended) {
      EXPECT_EQ(event.id, 1u);
      lines += event.line + ';';
      continue;
    }
    ++ends;
    EXPECT_EQ(ShellExitCode(event.wait_status), event.id == 1 ? 3 : 128 + SIGKILL);
    EXPECT_EQ(event.said, event.id == 1 ? "why\n" : "");
  }
  EXPECT_EQ(lines, "a;b;");  // what has no end of line is no line
  EXPECT_EQ(ends, 2);
}

TEST(LineChildren, OneThatListens) {
  LineChildren children;
  ASSERT_TRUE(children.Start(7, {"sh", "-c", "read a; echo got $a; read a"}, true).ok());
  ASSERT_TRUE(children.Say(7, "this\n").ok());
  EXPECT_EQ(children.Next().line, "got this");
  EXPECT_FALSE(children.Say(8, "nobody\n").ok());
}

TEST(LineChildren, SaysWhatCannotBeStarted) {
  LineChildren children;
  EXPECT_EQ(children.Start(1, {"/nowhere/srun"}).kind(), ErrorKind::kUsage);
  EXPECT_FALSE(children.any());
}

TEST(LineChildren, EndsThemWhenItIsEnded) {
  for (const int signal : {SIGTERM, SIGHUP}) {
    int alive[2];
    ASSERT_EQ(pipe(alive), 0);  // readable once nobody has its other end
    const pid_t tool = fork();
    if (tool == 0) {
      LineChildren children;
      (void)children.Start(1, {"sh", "-c", "echo runs; exec sleep 1000"});
      children.Next();
      raise(signal);
      _exit(0);
    }
    close(alive[1]);
    int status = 0;
    waitpid(tool, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal);
    pollfd end{.fd = alive[0], .events = POLLIN, .revents = 0};
    EXPECT_EQ(poll(&end, 1, 10'000), 1);
    close(alive[0]);
  }
}

TEST(LineChildren, EndsThem) {
  LineChildren children;
  ASSERT_TRUE(children.Start(1, {"sleep", "1000"}).ok());
}

}  // namespace
}  // namespace batchlight::cli
