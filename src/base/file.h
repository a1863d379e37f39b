// Files on the tool side: read-only mapping, and writing that never leaves half a file under its
// final name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"

namespace batchlight {

// A whole file mapped for reading. Move-only. An empty file gives an empty span.
class MappedFile {
 public:
  // Errors (kInput): missing, not a regular file, not readable; the message names path and reason.
  static Result<MappedFile> Open(const std::string& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) = delete;
  MappedFile(const MappedFile&) = delete;
  ~MappedFile();

  std::span<const uint8_t> bytes() const { return {data_, size_}; }
  std::string_view text() const { return {reinterpret_cast<const char*>(data_), size_}; }

 private:
  MappedFile() = default;
  const uint8_t* data_ = nullptr;
  size_t size_ = 0;
};

// Writes PATH.partial-<pid> and renames it to PATH in Commit(). Without Commit() the destructor
// removes it. Errors are kOutput. Not thread-safe.
class AtomicFileWriter {
 public:
  static Result<AtomicFileWriter> Create(const std::string& path);
  // The same interface for what cannot be renamed: "-" is standard output, else an existing pipe or
  // device. What was written before an error cannot be taken back.
  static Result<AtomicFileWriter> Stream(const std::string& path);
  AtomicFileWriter(AtomicFileWriter&& other) noexcept;
  AtomicFileWriter& operator=(AtomicFileWriter&& other) = delete;
  ~AtomicFileWriter();

  Status Write(std::string_view bytes);
  Status Commit();
  uint64_t bytes_written() const { return flushed_bytes_ + buffer_.size(); }

 private:
  AtomicFileWriter() = default;
  Status Flush();
  std::string path_;
  std::string partial_path_;  // empty: a stream
  std::string buffer_;
  uint64_t flushed_bytes_ = 0;
  int fd_ = -1;
};

// Errors as above. ReadWholeFile is for small files.
Result<std::string> ReadWholeFile(const std::string& path);
Status WriteWholeFile(const std::string& path, std::string_view text);
bool FileExists(const std::string& path);
// "-", or something that is there and is neither a file nor a folder: to be written as it is.
bool IsStream(const std::string& path);

}  // namespace batchlight
