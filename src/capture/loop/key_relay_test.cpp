#include "capture/loop/key_relay.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <future>
#include <optional>
#include <string>
#include <utility>

namespace batchlight::capture {
namespace {

constexpr int kPipeBytes = 4096;
constexpr auto kLong = std::chrono::seconds(20);

// A terminal as the tool's standard input, and the program's end of a pipe that is soon full.
class KeyRelayTest : public ::testing::Test {
 protected:
  void SetUp() override {
    int terminal = -1;
    ASSERT_EQ(openpty(&keyboard_, &terminal, nullptr, nullptr, nullptr), 0);
    termios raw{};
    tcgetattr(terminal, &raw);
    cfmakeraw(&raw);
    tcsetattr(terminal, TCSANOW, &raw);
    fcntl(keyboard_, F_SETFL, O_NONBLOCK);
    before_ = dup(STDIN_FILENO);
    dup2(terminal, STDIN_FILENO);
    close(terminal);
    relay_.emplace(false);
    ASSERT_GE(relay_->program_end(), 0);
    program_ = dup(relay_->program_end());
    ASSERT_GE(fcntl(program_, F_SETPIPE_SZ, kPipeBytes), kPipeBytes);
    relay_->Start();
  }
  void TearDown() override {
    relay_.reset();
    if (program_ >= 0) close(program_);
    dup2(before_, STDIN_FILENO);
    close(before_);
    close(keyboard_);
  }

  // Types until the terminal takes no more for a while: the program reads nothing.
  std::string TypeUntilFull() const {
    std::string typed;
    for (int waited = 0; waited < 10;) {
      const std::string key(1, static_cast<char>('a' + typed.size() % 26));
      if (write(keyboard_, key.data(), 1) == 1) {
        typed += key;
        waited = 0;
      } else {
        poll(nullptr, 0, 20);
        ++waited;
      }
    }
    return typed;
  }
  std::string ReadAtLeast(size_t bytes) const {
    std::string text;
    char buffer[1000];
    pollfd wait{program_, POLLIN, 0};
    while (text.size() < bytes && poll(&wait, 1, 20'000) == 1) {
      const ssize_t count = read(program_, buffer, sizeof buffer);
      if (count <= 0) break;
      text.append(buffer, static_cast<size_t>(count));
    }
    return text;
  }
  // Whether the relay, and the thread in it, end soon.
  bool Ends() {
    auto ended = std::async(std::launch::async, [this] { relay_.reset(); });
    const bool soon = ended.wait_for(kLong) == std::future_status::ready;
    if (!soon) close(std::exchange(program_, -1));  // it lets go of what it waits for
    return soon;
  }

  std::optional<KeyRelay> relay_;
  int keyboard_ = -1;
  int program_ = -1;
  int before_ = -1;
};

TEST_F(KeyRelayTest, AProgramThatReadsLateGetsAllInOrder) {
  std::string typed = TypeUntilFull();
  ASSERT_GT(typed.size(), size_t{kPipeBytes});
  EXPECT_EQ(ReadAtLeast(typed.size()), typed);
  typed = TypeUntilFull();
  EXPECT_EQ(ReadAtLeast(typed.size()), typed);
}

TEST_F(KeyRelayTest, AProgramThatReadsNothingHoldsNothingUp) {
  const std::string typed = TypeUntilFull();
  relay_->Stop();
  EXPECT_TRUE(Ends());
  // What it was given it has, and then the end.
  const std::string given = ReadAtLeast(typed.size());
  EXPECT_GT(given.size(), 0u);
  EXPECT_TRUE(typed.starts_with(given));
}

TEST_F(KeyRelayTest, AProgramThatEndsWithoutReadingIsNoError) {
  TypeUntilFull();
  close(std::exchange(program_, -1));
  EXPECT_TRUE(Ends());
}

}  // namespace
}  // namespace batchlight::capture
