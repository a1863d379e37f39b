#include "base/random_bytes.h"

#include <windows.h>
// after windows.h
#include <bcrypt.h>

#include <cerrno>

namespace batchlight {

bool FillRandom(std::span<unsigned char> bytes) {
  if (BCryptGenRandom(nullptr, bytes.data(), static_cast<ULONG>(bytes.size()),
                      BCRYPT_USE_SYSTEM_PREFERRED_RNG) == 0) {
    return true;
  }
  errno = EIO;
  return false;
}

}  // namespace batchlight
