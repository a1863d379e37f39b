// The memory of a running process, read from outside (process_vm_readv): it neither stops nor
// notices, and an address that is not there is an answer, not a fault.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace batchlight::capture {

class TargetMemory {
 public:
  explicit TargetMemory(pid_t pid) : pid_(pid) {}

  // False with errno: ESRCH the process is gone, EPERM the kernel refuses, EFAULT nothing is there.
  bool Read(uint64_t address, void* to, size_t bytes) const;
  // `each` bytes at each address, one after the other in `to`. How many of them, from the first on,
  // are whole.
  size_t ReadAll(std::span<const uint64_t> addresses, size_t each, uint8_t* to) const;
  // The same as Read(), by whole pages that are kept until Forget(): what lies close together costs
  // one call. nullptr with errno.
  const uint8_t* Near(uint64_t address, size_t bytes);
  void Forget() { kept_bytes_ = 0; }

  pid_t pid() const { return pid_; }

 private:
  static constexpr size_t kPageBytes = 4096;

  pid_t pid_;
  uint64_t kept_at_ = 0;
  size_t kept_bytes_ = 0;
  std::array<uint8_t, 2 * kPageBytes> kept_;
};

// Why the memory of a program cannot be read here; "" if it can.
std::string WhyNoTargetMemory();

}  // namespace batchlight::capture
