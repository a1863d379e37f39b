#include "capture/usage/unreached.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <vector>

namespace batchlight::capture {
namespace {

constexpr char kLibrary[] = "/opt/libbatchlight_inject.so";

class Sleeper {
 public:
  explicit Sleeper(std::vector<const char*> environment) {
    environment.push_back(nullptr);
    pid_ = vfork();
    if (pid_ == 0) {
      execle("/bin/sleep", "sleep", "60", nullptr, environment.data());
      _exit(1);
    }
  }
  ~Sleeper() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

TEST(Unreached, IsWhatStartsWithoutTheLibrary) {
  Unreached unreached(kLibrary);
  const std::string ours = std::string("LD_PRELOAD=/lib/other.so:") + kLibrary;
  const Sleeper reached({"A=b", ours.c_str()});
  const Sleeper without({"CUDA_VISIBLE_DEVICES=0", "LD_PRELOAD=/lib/other.so"});
  const Sleeper empty({});
  const Sleeper titled({"a title of its own", "B=c"});
  usleep(200'000);  // until all are loaded
  const auto look = [&](const Sleeper& sleeper, bool again) {
    unreached.LookAt(sleeper.pid(), "sleep\x1b", again);
  };
  for (const Sleeper* one : {&reached, &without, &empty, &titled}) look(*one, false);
  look(without, true);
  EXPECT_EQ(unreached.Text(), "");  // it may be on its way
  look(without, false);
  EXPECT_TRUE(unreached.Text().starts_with("a process was started")) << unreached.Text();
  for (int i = 0; i < 3; ++i) {
    for (const Sleeper* one : {&reached, &without, &empty, &titled}) look(*one, true);
  }
  const std::string number = std::to_string(empty.pid());
  EXPECT_TRUE(unreached.Text().starts_with("2 processes were started")) << unreached.Text();
  EXPECT_TRUE(unreached.Text().ends_with(", sleep\uFFFD (" + number + ")")) << unreached.Text();
}

}  // namespace
}  // namespace batchlight::capture
