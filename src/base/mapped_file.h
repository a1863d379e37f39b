// A file mapped for reading.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/folder.h"
#include "base/status.h"

namespace batchlight {

// A whole file mapped for reading. Move-only. An empty file gives an empty span.
class MappedFile {
 public:
  // Errors (kInput): missing, not a regular file, not readable; the message names path and reason.
  static Result<MappedFile> Open(const std::string& path);
  // `name` in the folder; a link is no regular file.
  static Result<MappedFile> Open(const Folder& folder, const std::string& name);
  // Takes the descriptor of a file that was opened for reading.
  static Result<MappedFile> FromDescriptor(int fd, const std::string& path);
  // For a file on which this process holds locks: closing any descriptor of it would drop them, so
  // this one stays open as long as the mapping.
  static Result<MappedFile> OpenBesideLocks(const std::string& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) = delete;
  MappedFile(const MappedFile&) = delete;
  ~MappedFile();

  std::span<const uint8_t> bytes() const { return {data_, size_}; }
  std::string_view text() const { return {reinterpret_cast<const char*>(data_), size_}; }

 private:
  MappedFile() = default;
  static Result<MappedFile> Map(int fd, const std::string& path);  // leaves it open
  const uint8_t* data_ = nullptr;
  size_t size_ = 0;
  int open_fd_ = -1;
};

// Whole pages of [begin, begin + bytes) that are not needed for now leave memory: those of a mapped
// file are read again when they are, those of a buffer lose what they hold.
void ForgetPages(const void* begin, size_t bytes);

}  // namespace batchlight
