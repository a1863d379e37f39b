#include "serve/peer_user.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace batchlight::serve {
namespace {

constexpr uint32_t kLoopback = 0x7f000001;

sockaddr_in At(uint32_t address, uint16_t port) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(address);
  at.sin_port = htons(port);
  return at;
}

uint16_t PortOf(int socket) {
  sockaddr_in at{};
  socklen_t size = sizeof at;
  return getsockname(socket, reinterpret_cast<sockaddr*>(&at), &size) == 0 ? ntohs(at.sin_port) : 0;
}

class PeerUser : public testing::Test {
 protected:
  void SetUp() override {
    const sockaddr_in any = At(kLoopback, 0);
    ASSERT_EQ(bind(server_, reinterpret_cast<const sockaddr*>(&any), sizeof any), 0);
    ASSERT_EQ(listen(server_, 8), 0);
    own_ = {kLoopback, PortOf(server_)};
  }
  void TearDown() override { close(server_); }
  // A connection from a free port of this address.
  int ConnectFrom(uint32_t address) const {
    const int peer = socket(AF_INET, SOCK_STREAM, 0);
    const sockaddr_in from = At(address, 0), to = At(kLoopback, own_.port);
    EXPECT_EQ(bind(peer, reinterpret_cast<const sockaddr*>(&from), sizeof from), 0);
    EXPECT_EQ(connect(peer, reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
    return peer;
  }
  const int server_ = socket(AF_INET, SOCK_STREAM, 0);
  Endpoint own_;
};

TEST_F(PeerUser, IsKnownOfEachAddress) {
  for (const uint32_t address : {kLoopback, kLoopback + 1}) {
    const int peer = ConnectFrom(address);
    EXPECT_TRUE(IsOwnPeer({address, PortOf(peer)}, own_));
    close(peer);
  }
}

// Another user's at 127.0.0.2 may have the port of ours at 127.0.0.1.
TEST_F(PeerUser, IsNotThatOfTheSamePortElsewhere) {
  const int peer = ConnectFrom(kLoopback);
  EXPECT_FALSE(IsOwnPeer({kLoopback + 1, PortOf(peer)}, own_));
  EXPECT_FALSE(IsOwnPeer({kLoopback, PortOf(peer)}, {kLoopback + 1, own_.port}));
  close(peer);
}

}  // namespace
}  // namespace batchlight::serve
