// A small file of the kernel that is read again and again, through one descriptor. Where half of
// the descriptors that the tool may have are in such files, further ones are opened for each
// reading: a program may have any number of processes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace batchlight::capture {

class KernelFile {
 public:
  KernelFile() = default;  // of nothing
  explicit KernelFile(const std::string& path);
  KernelFile(KernelFile&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)), path_(std::exchange(other.path_, {})) {}
  KernelFile& operator=(KernelFile&& other) noexcept;
  ~KernelFile() { Close(); }

  // What it says now, up to kMostBytes; valid until the next Read() of any file. "" if it cannot be
  // read: it is not there, not ours to read, or its process is gone.
  std::string_view Read();
  bool is_open() const { return fd_ >= 0 || !path_.empty(); }
  void Close();

  static constexpr size_t kMostBytes = 256 << 10;

 private:
  static std::string_view ReadAll(int fd);

  int fd_ = -1;
  std::string path_;  // to be opened each time; empty with a descriptor
};

// A tick of the times that /proc tells, ns.
uint64_t TickNs();

// The number behind `key`, wherever that stands in `text`; an empty key is the start. 0: none.
uint64_t NumberBehind(std::string_view text, std::string_view key);

// The number that the next word of a line starts with, which is taken off; 0: none.
uint64_t TakeNumber(std::string_view& text);

}  // namespace batchlight::capture
