// A file as a stream of bytes, unpacked on the fly if it is gzip.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/status.h"

namespace batchlight {

class ByteSource {
 public:
  // Errors (kInput): cannot be opened.
  static Result<std::unique_ptr<ByteSource>> Open(const std::string& path);
  virtual ~ByteSource() = default;

  // Up to `size` bytes; 0 at the end. Errors (kInput): reading failed, or the gzip data is damaged
  // (what came before was fine).
  virtual Result<size_t> Read(char* to, size_t size) = 0;
  // True if the bytes are unpacked ones, not those of the file itself.
  virtual bool packed() const = 0;
};

}  // namespace batchlight
