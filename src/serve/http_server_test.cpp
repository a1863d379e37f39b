#include "serve/http_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <new>
#include <optional>
#include <random>
#include <thread>
#include <vector>

namespace batchlight::serve {
namespace {

// A connection as a browser or an attacker has it.
class Peer {
 public:
  explicit Peer(uint16_t port) : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  ~Peer() { close(fd_); }

  bool connected() const { return connected_; }
  void Send(const std::string& bytes) {
    size_t sent = 0;
    while (sent < bytes.size()) {
      const ssize_t n = send(fd_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (n <= 0) return;
      sent += static_cast<size_t>(n);
    }
  }
  // All until the server closes.
  std::string ReadAll() {
    std::string text;
    char buffer[4096];
    for (ssize_t n; (n = recv(fd_, buffer, sizeof(buffer), 0)) > 0;) {
      text.append(buffer, static_cast<size_t>(n));
    }
    return text;
  }
  std::string Ask(const std::string& bytes) {
    Send(bytes);
    return ReadAll();
  }

 private:
  int fd_;
  bool connected_ = false;
};

class HttpServerTest : public ::testing::Test {
 protected:
  void Start(ServerLimits limits = {}) {
    auto made = HttpServer::Listen({.limits = limits, .content_policy = "default-src 'none'"});
    ASSERT_TRUE(made.ok()) << made.status().message();
    server_.emplace(std::move(made).value());
    port_ = server_->port();
    thread_ = std::thread([this] {
      server_->Run(
          [](const HttpRequest& request) {
            return request.host == "evil" ? ErrorResponse(403, "origin", "no") : HttpResponse();
          },
          [](const HttpRequest& request) {
            if (request.target == "/full") throw std::bad_alloc();
            if (request.target == "/there") return HttpResponse{.for_all_sites = true};
            return HttpResponse{.body = request.method + " " + request.target + " " + request.body};
          });
    });
  }
  void TearDown() override {
    if (!thread_.joinable()) return;
    server_->Stop();
    thread_.join();
  }

  std::optional<HttpServer> server_;
  uint16_t port_ = 0;
  std::thread thread_;
};

TEST_F(HttpServerTest, AnswersOneRequestAfterTheOther) {
  Start();
  Peer peer(port_);
  const std::string text = peer.Ask(
      "GET /a HTTP/1.1\r\nHost: x\r\n\r\n"
      "POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbody");
  EXPECT_NE(text.find("GET /a "), text.npos);
  EXPECT_NE(text.find("POST /b body"), text.npos);
  for (const char* header : {"Content-Security-Policy: default-src 'none'", "nosniff",
                             "no-referrer", "no-store", "same-origin"}) {
    EXPECT_NE(text.find(header), text.npos) << header;
  }
  EXPECT_EQ(text.find("Access-Control"), text.npos);
}

// A page of another site hears that there is an answer, and can read none of it.
TEST_F(HttpServerTest, LetsOtherSitesLoadWhatIsForAllAndReadNothing) {
  Start();
  const std::string text =
      Peer(port_).Ask("GET /there HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_NE(text.find("Cross-Origin-Resource-Policy: cross-origin"), text.npos);
  EXPECT_EQ(text.find("Access-Control"), text.npos);
  const std::string refused =
      Peer(port_).Ask("GET /there HTTP/1.1\r\nHost: evil\r\nConnection: close\r\n\r\n");
  EXPECT_NE(refused.find(" 403 "), refused.npos);
  EXPECT_NE(refused.find("Cross-Origin-Resource-Policy: same-origin"), refused.npos);
}

TEST_F(HttpServerTest, HasHardLimits) {
  Start();
  const std::string head = "POST / HTTP/1.1\r\nHost: x\r\n";
  EXPECT_NE(Peer(port_).Ask(head + "A: " + std::string(17'000, 'a') + "\r\n\r\n").find(" 431 "),
            std::string::npos);
  EXPECT_NE(Peer(port_).Ask(head + "Content-Length: 1048577\r\n\r\n").find(" 413 "),
            std::string::npos);
  EXPECT_NE(Peer(port_).Ask(head + "Transfer-Encoding: chunked\r\n\r\n").find(" 411 "),
            std::string::npos);
  EXPECT_NE(Peer(port_).Ask("what is this\r\n\r\n").find(" 400 "), std::string::npos);
}

// Anybody may send one: without a limit it would take all memory within the time that it has.
TEST_F(HttpServerTest, LimitsAHeaderThatComesInPieces) {
  Start({.arrive_ms = 60'000});
  Peer peer(port_);
  peer.Send("GET / HTTP/1.1\r\nHost: x\r\na");
  std::string lines;
  for (int i = 0; i < 200; ++i) lines += ":\r\na";
  for (int i = 0; i < 50; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    peer.Send(lines);
  }
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(peer.ReadAll().find(" 200 "), std::string::npos);  // without waiting for its end
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

TEST_F(HttpServerTest, RefusesTwoHosts) {
  Start();
  for (const char* name : {"Host", "Origin"}) {
    const std::string line = std::string(name) + ": x\r\n";
    EXPECT_NE(Peer(port_)
                  .Ask("GET / HTTP/1.1\r\n" + line + line + "Connection: close\r\n\r\n")
                  .find(" 400 "),
              std::string::npos);
  }
}

TEST_F(HttpServerTest, SurvivesAnAnswerThatHasNoMemory) {
  Start();
  for (const char* target : {"/full", "/full", "/full", "/full"}) {
    EXPECT_NE(
        Peer(port_)
            .Ask(std::string("GET ") + target + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            .find("out of memory"),
        std::string::npos);
  }
}

TEST_F(HttpServerTest, AsksTheGateBeforeItReadsABody) {
  Start();
  Peer peer(port_);
  EXPECT_NE(
      peer.Ask("POST / HTTP/1.1\r\nHost: evil\r\nContent-Length: 1000000\r\n\r\n").find(" 403 "),
      std::string::npos);
}

TEST_F(HttpServerTest, RefusesTheConnectionBeyondTheLast) {
  Start({.connections = 2});
  Peer one(port_);
  Peer two(port_);
  one.Send("GET /");  // held open
  two.Send("GET /");
  std::string text;
  for (int i = 0; i < 500 && text.find(" 503 ") == text.npos; ++i) {
    text = Peer(port_).Ask("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_NE(text.find(" 503 "), text.npos) << text;
}

// Who may connect, as every user of the machine may, cannot use up the descriptors: what says
// nothing is closed at once.
TEST_F(HttpServerTest, ClosesConnectionsWithoutEnd) {
  Start({.connections = 2, .arrive_ms = 60'000});
  std::vector<std::unique_ptr<Peer>> many;
  for (int i = 0; i < 60; ++i) many.push_back(std::make_unique<Peer>(port_));
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(many.back()->ReadAll(), "");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
  many.clear();
  std::string text;
  for (int i = 0; i < 500 && text.find("200 OK") == text.npos; ++i) {
    text = Peer(port_).Ask("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_NE(text.find("200 OK"), text.npos) << text;
}

TEST_F(HttpServerTest, ClosesWhatArrivesTooSlowly) {
  Start({.arrive_ms = 50});
  Peer peer(port_);
  EXPECT_EQ(peer.Ask("GET / HTTP/1.1\r\nHost: "), "");
}

TEST_F(HttpServerTest, EndsByItselfWhenNobodyAsks) {
  Start({.idle_ms = 50});
  thread_.join();
}

TEST_F(HttpServerTest, SurvivesAnyBytes) {
  Start();
  const std::string seed =
      "POST /api/1/view HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello";
  std::mt19937 random(9);
  for (int round = 0; round < 300; ++round) {
    std::string bytes = seed;
    for (uint32_t i = 0; i < 1 + random() % 6; ++i) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    bytes.resize(1 + random() % bytes.size());
    Peer(port_).Send(bytes);
  }
  Peer peer(port_);
  EXPECT_NE(peer.Ask("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").find(" 200 "),
            std::string::npos);
}

TEST(HttpServer, SaysWhenThePortIsTaken) {
  auto one = HttpServer::Listen({});
  ASSERT_TRUE(one.ok());
  const auto other = HttpServer::Listen({.port = one.value().port()});
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.status().kind(), ErrorKind::kUsage);
  EXPECT_NE(other.status().message().find("port"), std::string::npos);
}

// Who is asked first by those who say "localhost". 0: any port; -1: it is taken.
int BindIpv6Loopback(uint16_t port) {
  const int fd = socket(AF_INET6, SOCK_STREAM, 0);
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_port = htons(port);
  address.sin6_addr = in6addr_loopback;
  const int yes = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  if (bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0) return fd;
  if (fd >= 0) close(fd);
  return -1;
}

TEST(HttpServer, HoldsItsPortAtBothLoopbackAddresses) {
  const int any = BindIpv6Loopback(0);
  if (any < 0) GTEST_SKIP() << "this machine has no IPv6";
  auto server = HttpServer::Listen({});
  ASSERT_TRUE(server.ok());
  EXPECT_EQ(BindIpv6Loopback(server.value().port()), -1);
  sockaddr_in6 taken{};
  socklen_t bytes = sizeof(taken);
  ASSERT_EQ(getsockname(any, reinterpret_cast<sockaddr*>(&taken), &bytes), 0);
  EXPECT_FALSE(HttpServer::Listen({.port = ntohs(taken.sin6_port)}).ok());
  close(any);
}

}  // namespace
}  // namespace batchlight::serve
