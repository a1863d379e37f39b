#include "serve/peer_user.h"

#include <unistd.h>

#include <array>
#include <bit>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

namespace batchlight::serve {
namespace {

// A word of an address, as the kernel writes it: as a number of the machine's.
uint32_t AsWritten(uint32_t word) {
  return std::endian::native == std::endian::little ? __builtin_bswap32(word) : word;
}

// "0100007F:1A2B".
std::string TextOf(const Endpoint& endpoint) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "%08X:%04X", AsWritten(endpoint.address), endpoint.port);
  return text.data();
}

// Of a socket for both families: "0000000000000000FFFF00000100007F:1A2B".
std::string TextInBothOf(const Endpoint& endpoint) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%016X%08X", 0U, AsWritten(0xffff));
  return text.data() + TextOf(endpoint);
}

enum class Found { kNoTable, kNone, kOwn, kOthers };

// A line: number, local and remote address, state, queues, timer, retransmits, uid, timeout, inode.
// One that was closed has no inode, and no user is known of it.
Found Look(const char* table, const std::string& local, const std::string& remote) {
  std::ifstream file(table);
  std::string line;
  if (!std::getline(file, line)) return Found::kNoTable;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string number, from, to, word;
    words >> number >> from >> to;
    if (from != local || to != remote) continue;
    for (int skipped = 0; skipped < 4; ++skipped) words >> word;
    unsigned long uid = 0, timeout = 0, inode = 0;
    words >> uid >> timeout >> inode;
    const bool own = words && inode != 0 && (uid == 0 || uid == geteuid());
    return own ? Found::kOwn : Found::kOthers;
  }
  return Found::kNone;
}

}  // namespace

bool IsOwnPeer(const Endpoint& peer, const Endpoint& own) {
  const Found plain = Look("/proc/net/tcp", TextOf(peer), TextOf(own));
  if (plain != Found::kNone) return plain != Found::kOthers;
  return Look("/proc/net/tcp6", TextInBothOf(peer), TextInBothOf(own)) == Found::kOwn;
}

}  // namespace batchlight::serve
