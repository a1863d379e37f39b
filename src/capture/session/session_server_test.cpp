#include "capture/session/session_server.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <barrier>
#include <cstdlib>
#include <filesystem>
#include <thread>

namespace batchlight::capture {
namespace {

class NoCommands : public SessionCommands {
 public:
  Status Start(const CaptureOptions&) override {
    ++starts;
    return {};
  }
  Result<std::string> Stop() override { return std::string(); }
  Status Cancel() override { return {}; }
  Status Shutdown(std::optional<int>) override { return {}; }
  std::string Describe() override { return "here"; }

  int starts = 0;
};

class SessionServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char folder[] = "/tmp/batchlight-sessions-XXXXXX";
    folder_ = mkdtemp(folder);
    setenv("XDG_RUNTIME_DIR", folder_.c_str(), 1);
    ASSERT_TRUE(loop_.Open().ok());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  bool Listens(const std::string& name) const {
    const int fd = ConnectToSession(SocketPath(folder_ + "/batchlight", name));
    if (fd >= 0) close(fd);
    return fd >= 0;
  }

  std::string folder_;
  EventLoop loop_;
  NoCommands commands_;
};

TEST_F(SessionServerTest, OneSessionOfAName) {
  {
    SessionServer server(loop_, commands_), second(loop_, commands_);
    ASSERT_TRUE(server.Open("a").ok());
    const Status status = second.Open("a");
    EXPECT_EQ(status.kind(), ErrorKind::kUsage) << status.message();
    EXPECT_EQ(ListSessions().value(), std::vector<std::string>{"a"});
  }
  EXPECT_TRUE(ListSessions().value().empty());
  EXPECT_TRUE(std::filesystem::is_empty(folder_ + "/batchlight"));
}

// The tool of a session may be stopped (SIGSTOP, a debugger), and so accept nothing.
TEST_F(SessionServerTest, NobodyWaitsForOneThatDoesNotAnswer) {
  SessionServer server(loop_, commands_), second(loop_, commands_);
  ASSERT_TRUE(server.Open("a").ok());
  Request request;
  request.verb = "status";
  const auto reply = AskSession("a", request);
  EXPECT_NE(reply.status().message().find("does not answer"), std::string::npos)
      << reply.status().message();
  std::vector<int> waiting;  // until no more are taken
  for (int fd = 0; fd >= 0 && waiting.size() < 100;) {
    fd = ConnectToSession(SocketPath(folder_ + "/batchlight", "a"));
    if (fd >= 0) waiting.push_back(fd);
  }
  EXPECT_NE(AskSession("a", request).status().message().find("does not answer"), std::string::npos);
  EXPECT_EQ(second.Open("a").kind(), ErrorKind::kUsage);
  EXPECT_EQ(ListSessions().value(), std::vector<std::string>{"a"}) << "it lives";
  for (const int fd : waiting) close(fd);
}

// What cannot be asked is not dead.
TEST_F(SessionServerTest, NoMoreDescriptorsRemoveNoSession) {
  SessionServer server(loop_, commands_);
  ASSERT_TRUE(server.Open("a").ok());
  // As a process of its own, since the limit is one of processes: one for the folder, none to ask.
  const auto list = [&] {
    const int next = dup(0);
    const rlimit limit{static_cast<rlim_t>(next) + 1, static_cast<rlim_t>(next) + 1};
    close(next);
    setrlimit(RLIMIT_NOFILE, &limit);
    const auto names = ListSessions();
    _exit(names.ok() && names.value() == std::vector<std::string>{"a"} ? 0 : 1);
  };
  EXPECT_EXIT(list(), testing::ExitedWithCode(0), "");
  EXPECT_TRUE(Listens("a"));
}

// What is cut in the middle of a command must not be executed up to there.
TEST_F(SessionServerTest, RefusesARequestThatIsTooLarge) {
  SessionServer server(loop_, commands_);
  ASSERT_TRUE(server.Open("a").ok());
  CaptureOptions options;
  options.after_start.assign(kMaxMessageBytes, 'x');
  const std::string bytes = MakeStartRequest(options).Encode();
  const int client = ConnectToSession(SocketPath(folder_ + "/batchlight", "a"));
  ASSERT_EQ(send(client, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  loop_.Wait(-1);  // accepts
  loop_.Wait(-1);  // answers
  const auto reply = ReceiveMessage(client);
  close(client);
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(Reply::Decode(reply.value()).kind, ErrorKind::kUsage) << reply.value();
  EXPECT_EQ(AskSession("a", MakeStartRequest(options)).status().kind(), ErrorKind::kUsage);
  EXPECT_EQ(commands_.starts, 0);
}

TEST_F(SessionServerTest, TakesThePlaceOfADeadOne) {
  ASSERT_TRUE(ListSessions().ok());  // makes the folder
  // A socket that nobody listens on, as a killed tool leaves it.
  SessionServer server(loop_, commands_);
  const std::string path = SocketPath(folder_ + "/batchlight", "a");
  {
    SessionServer dead(loop_, commands_);
    ASSERT_TRUE(dead.Open("a").ok());
    std::filesystem::create_hard_link(path, path + ".kept");
  }
  std::filesystem::rename(path + ".kept", path);
  ASSERT_FALSE(Listens("a"));
  ASSERT_TRUE(server.Open("a").ok());
  EXPECT_TRUE(Listens("a"));
}

// `sessions list` removes the sockets of dead sessions: a session about to listen is none.
TEST_F(SessionServerTest, AListDoesNotTakeABeginningSessionForDead) {
  constexpr int kSessions = 2000;
  std::barrier together(2);
  std::thread lister([&together] {
    for (int i = 0; i < kSessions; ++i) {
      together.arrive_and_wait();
      for (int look = 0; look < 8; ++look) (void)ListSessions();
      together.arrive_and_wait();
    }
  });
  for (int i = 0; i < kSessions; ++i) {
    const std::string name = "s" + std::to_string(i);
    SessionServer server(loop_, commands_);
    together.arrive_and_wait();
    const Status status = server.Open(name);
    together.arrive_and_wait();
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_TRUE(Listens(name)) << i;
  }
  lister.join();
}

}  // namespace
}  // namespace batchlight::capture
