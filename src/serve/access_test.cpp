#include "serve/access.h"

#include <gtest/gtest.h>

#include <memory>

#include "serve/steady_clock.h"
#include "serve/tickets.h"

namespace batchlight::serve {
namespace {

AccessRules Rules() {
  return {.token = std::string(64, 'a'), .hosts = {"hub.example.org"}, .frame_ancestors = {}};
}

HttpRequest Ask(std::string method, std::string host, std::string origin = {}) {
  return {.method = std::move(method),
          .target = "/api/1/run",
          .host = std::move(host),
          .origin = std::move(origin),
          .authorization = "Bearer " + std::string(64, 'a')};
}

int StatusOf(const HttpRequest& request) { return CheckAccess(Rules(), request).status; }

TEST(Access, KnowsTheNamesOfThisMachineWithAnyPort) {
  for (const char* host : {"localhost", "localhost:80", "127.0.0.1:41231", "[::1]:9", "LOCALHOST:1",
                           "hub.example.org", "hub.example.org:443"}) {
    EXPECT_EQ(StatusOf(Ask("GET", host)), 200) << host;
    EXPECT_EQ(StatusOf(Ask("POST", host)), 200) << host;
  }
}

// DNS rebinding: the browser believes that evil.example is this machine.
TEST(Access, RefusesOtherHosts) {
  for (const char* host : {"", "evil.example", "evil.example:8080", "127.0.0.1.evil.example",
                           "localhost.evil.example:80", "127.0.0.1:80:80", "localhost:port",
                           "localhost:", "[::1", "0.0.0.0:80", "127.0.0.2", "evil@localhost"}) {
    EXPECT_EQ(StatusOf(Ask("GET", host)), 403) << host;
    EXPECT_EQ(StatusOf(Ask("POST", host)), 403) << host;
  }
}

TEST(Access, RefusesOtherOrigins) {
  EXPECT_EQ(StatusOf(Ask("POST", "127.0.0.1:8080", "http://127.0.0.1:8080")), 200);
  EXPECT_EQ(StatusOf(Ask("POST", "hub.example.org", "https://hub.example.org")), 200);
  for (const char* origin : {"null", "http://evil.example", "https://localhost.evil.example",
                             "http://localhost:8080", "file://", "http://", "127.0.0.1:8080"}) {
    EXPECT_EQ(StatusOf(Ask("POST", "127.0.0.1:8080", origin)), 403) << origin;
  }
}

TEST(Access, RefusesScriptsOfOtherSites) {
  HttpRequest request = Ask("POST", "localhost");
  request.fetch_site = "cross-site";
  EXPECT_EQ(StatusOf(request), 403);
  request.fetch_site = "same-origin";
  EXPECT_EQ(StatusOf(request), 200);
  request.method = "GET";  // a link from elsewhere
  request.fetch_site = "cross-site";
  EXPECT_EQ(StatusOf(request), 200);
}

// Where a notebook's output asks whether its server is there. Who may not ask for anything else may
// not read that answer either: a browser names the origin of who would.
TEST(Access, WhetherItIsThereIsReadByNoOtherSite) {
  HttpRequest request = Ask("GET", "127.0.0.1:8080", "http://evil.example");
  request.target = "/there";
  const HttpResponse refusal = CheckAccess(Rules(), request);
  EXPECT_EQ(refusal.status, 403);
  EXPECT_FALSE(refusal.for_all_sites);
  request.origin = "null";  // a frame without an origin, a file
  EXPECT_EQ(StatusOf(request), 403);
  request.origin = {};
  request.host = "evil.example:8080";
  EXPECT_EQ(StatusOf(request), 403) << "a name that was turned to this machine";
  request.host = "127.0.0.1:8080";
  request.method = "POST";
  request.fetch_site = "cross-site";
  EXPECT_EQ(StatusOf(request), 403);
  // Without an origin the browser hides the answer from who asks: that there is one is all.
  request.method = "GET";
  EXPECT_EQ(StatusOf(request), 200);
}

TEST(Access, WantsTheTokenForData) {
  for (const std::string& given :
       {std::string(), std::string("Bearer "), std::string(64, 'a'),
        "Bearer " + std::string(64, 'b'), "Bearer " + std::string(63, 'a'),
        "Basic " + std::string(64, 'a')}) {
    HttpRequest request = Ask("POST", "localhost");
    request.authorization = given;
    EXPECT_EQ(StatusOf(request), 401) << given;
    request.method = "GET";
    EXPECT_EQ(StatusOf(request), 200);
  }
  HttpRequest request = Ask("POST", "localhost");
  request.authorization = "Bearer ";
  EXPECT_EQ(CheckAccess({}, request).status, 401);  // no token is no key
}

TEST(Access, MakesTokensOf256Bits) {
  const auto one = NewToken();
  const auto other = NewToken();
  ASSERT_TRUE(one.ok() && other.ok());
  EXPECT_EQ(one.value().size(), 64u);
  EXPECT_EQ(one.value().find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_NE(one.value(), other.value());
}

TEST(Access, LetsNobodyFrameThePageUnlessTold) {
  EXPECT_NE(ContentPolicy({}).find("frame-ancestors 'none'"), std::string::npos);
  EXPECT_NE(ContentPolicy({.frame_ancestors = {"https://hub.example.org"}})
                .find("frame-ancestors 'self' https://hub.example.org"),
            std::string::npos);
  EXPECT_NE(ContentPolicy({}).find("default-src 'none'"), std::string::npos);
}

TEST(Access, ChecksWhatFlagsName) {
  EXPECT_TRUE(IsHostName("hub.example.org"));
  for (const char* wrong : {"", "a b", "host:80", "http://host", "a;b"})
    EXPECT_FALSE(IsHostName(wrong));
  EXPECT_TRUE(IsOrigin("https://hub.example.org"));
  EXPECT_TRUE(IsOrigin("http://localhost:8888"));
  for (const char* wrong : {"", "hub", "https://", "https://a b", "https://a/x", "data:"}) {
    EXPECT_FALSE(IsOrigin(wrong)) << wrong;
  }
}

// As after an RST, when the request can be read yet and whose it is cannot be told.
TEST(Access, GivesTheTokenToNobodyUnknown) {
  AccessRules rules = Rules();
  rules.tickets = std::make_shared<Tickets>();
  HttpRequest request = Ask("POST", "localhost");
  request.target = "/api/1/token";
  request.authorization = "Ticket " + rules.tickets->New(NowMs()).value();
  EXPECT_EQ(CheckAccess(rules, request).status, 401);
  request.over_unix_socket = true;
  EXPECT_EQ(CheckAccess(rules, request).status, 200);
}

}  // namespace
}  // namespace batchlight::serve
