// main of the library's unit tests: the tests run in a process that has joined a session, as every
// recorded process does before its main. So it starts itself again with the session in the
// environment.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "inject/testing/live_session.h"

namespace {

int RunInSession(char** arguments) {
  const batchlight::inject::LiveSession session;
  session.SetEnvironment();
  const pid_t child = ::fork();
  if (child == 0) {
    ::execv("/proc/self/exe", arguments);
    ::_exit(127);
  }
  int status = 1;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv(batchlight::format::kSessionDirVariable) == nullptr) return RunInSession(argv);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
