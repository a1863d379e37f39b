#include "serve/peer_user.h"

#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>

namespace batchlight::serve {
namespace {

// "0100007F:1A2B"; of a socket for both families "0000000000000000FFFF00000100007F:1A2B".
bool IsLoopback(const std::string& address, uint16_t port) {
  const size_t colon = address.find(':');
  if (colon == std::string::npos || !address.substr(0, colon).ends_with("0100007F")) return false;
  return std::stoul(address.substr(colon + 1), nullptr, 16) == port;
}

enum class Found { kNoTable, kNone, kOwn, kOthers };

// A line: number, local and remote address, state, queues, timer, retransmits, uid, timeout, inode.
// One that was closed has no inode, and no user is known of it.
Found Look(const char* table, uint16_t local, uint16_t remote) {
  std::ifstream file(table);
  std::string line;
  if (!std::getline(file, line)) return Found::kNoTable;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string number, from, to, word;
    words >> number >> from >> to;
    if (!IsLoopback(from, local) || !IsLoopback(to, remote)) continue;
    for (int skipped = 0; skipped < 4; ++skipped) words >> word;
    unsigned long uid = 0, timeout = 0, inode = 0;
    words >> uid >> timeout >> inode;
    const bool own = words && inode != 0 && (uid == 0 || uid == geteuid());
    return own ? Found::kOwn : Found::kOthers;
  }
  return Found::kNone;
}

}  // namespace

bool IsOwnPeer(uint16_t peer_port, uint16_t own_port) {
  const Found plain = Look("/proc/net/tcp", peer_port, own_port);
  if (plain != Found::kNone) return plain != Found::kOthers;
  return Look("/proc/net/tcp6", peer_port, own_port) == Found::kOwn;
}

}  // namespace batchlight::serve
