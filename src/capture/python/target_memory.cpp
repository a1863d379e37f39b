#include "capture/python/target_memory.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/child.h"

namespace batchlight::capture {
namespace {

iovec At(uint64_t address, size_t bytes) {
  return {reinterpret_cast<void*>(address), bytes};  // NOLINT: of another process
}

}  // namespace

bool TargetMemory::Read(uint64_t address, void* to, size_t bytes) const {
  const iovec local = {to, bytes};
  const iovec remote = At(address, bytes);
  const ssize_t got = process_vm_readv(pid_, &local, 1, &remote, 1, 0);
  if (got >= 0 && static_cast<size_t>(got) != bytes) errno = EFAULT;
  return got >= 0 && static_cast<size_t>(got) == bytes;
}

size_t TargetMemory::ReadAll(std::span<const uint64_t> addresses, size_t each, uint8_t* to) const {
  std::array<iovec, 64> remote;
  size_t done = 0;
  while (done < addresses.size()) {
    const size_t count = std::min(remote.size(), addresses.size() - done);
    for (size_t i = 0; i < count; ++i) remote[i] = At(addresses[done + i], each);
    const iovec local = {to + done * each, count * each};
    const ssize_t got = process_vm_readv(pid_, &local, 1, remote.data(), count, 0);
    if (got < 0) return done;
    done += static_cast<size_t>(got) / each;
    if (static_cast<size_t>(got) != count * each) break;
  }
  return done;
}

const uint8_t* TargetMemory::Near(uint64_t address, size_t bytes) {
  if (bytes > kPageBytes || address > UINT64_MAX - kPageBytes) {
    errno = EFAULT;
    return nullptr;
  }
  if (address < kept_at_ || address + bytes > kept_at_ + kept_bytes_) {
    kept_bytes_ = 0;
    const uint64_t page = address & ~uint64_t{kPageBytes - 1};
    const size_t wanted = address + bytes > page + kPageBytes ? 2 * kPageBytes : kPageBytes;
    if (!Read(page, kept_.data(), wanted)) return nullptr;
    kept_at_ = page;
    kept_bytes_ = wanted;
  }
  return kept_.data() + (address - kept_at_);
}

std::string WhyNoTargetMemory() {
  static const uint64_t known = 0x5eed;
  const pid_t child = fork();
  if (child < 0) return std::string("no process can be started: ") + std::strerror(errno);
  if (child == 0) {
    while (true) pause();
  }
  uint64_t found = 0;
  const bool can =
      TargetMemory(child).Read(reinterpret_cast<uint64_t>(&known), &found, sizeof found);
  const int error = errno;
  kill(child, SIGKILL);
  WaitForChild(child);
  return can ? "" : std::string("process_vm_readv: ") + std::strerror(error);
}

}  // namespace batchlight::capture
