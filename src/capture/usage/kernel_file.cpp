#include "capture/usage/kernel_file.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <vector>

#include "base/split.h"

namespace batchlight::capture {
namespace {

std::atomic<uint64_t> held_files{0};

uint64_t MostHeld() {
  rlimit limit{};
  return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? uint64_t{limit.rlim_cur} / 2 : 0;
}

int OpenToRead(const std::string& path) { return open(path.c_str(), O_RDONLY | O_CLOEXEC); }

uint64_t NumberAt(std::string_view text) {
  uint64_t number = 0;
  const size_t digits = text.find_first_not_of(' ');
  if (digits == std::string_view::npos) return 0;
  std::from_chars(text.data() + digits, text.data() + text.size(), number);
  return number;
}

}  // namespace

KernelFile::KernelFile(const std::string& path) {
  if (held_files < MostHeld()) fd_ = OpenToRead(path);
  if (fd_ >= 0) {
    ++held_files;
  } else {
    path_ = path;
  }
}

KernelFile& KernelFile::operator=(KernelFile&& other) noexcept {
  Close();
  fd_ = std::exchange(other.fd_, -1);
  path_ = std::exchange(other.path_, {});
  return *this;
}

void KernelFile::Close() {
  path_.clear();
  if (fd_ < 0) return;
  close(std::exchange(fd_, -1));
  --held_files;
}

std::string_view KernelFile::Read() {
  if (fd_ >= 0) return ReadAll(fd_);
  const int fd = path_.empty() ? -1 : OpenToRead(path_);
  if (fd < 0) return {};
  const std::string_view text = ReadAll(fd);
  close(fd);
  return text;
}

std::string_view KernelFile::ReadAll(int fd) {
  static thread_local std::vector<char> buffer(16 << 10);
  size_t bytes = 0;
  // Lists come a page at a time, whatever is asked for; what is much less than a page is all.
  constexpr ssize_t kSurelyAll = 2048;
  while (true) {
    const ssize_t got =
        pread(fd, buffer.data() + bytes, buffer.size() - bytes, static_cast<off_t>(bytes));
    if (got <= 0) break;
    bytes += static_cast<size_t>(got);
    if (got < kSurelyAll) break;
    if (bytes < buffer.size()) continue;
    if (buffer.size() >= kMostBytes) break;
    buffer.resize(2 * buffer.size());
  }
  return {buffer.data(), bytes};
}

uint64_t TickNs() {
  static const uint64_t tick_ns = 1'000'000'000 / static_cast<uint64_t>(sysconf(_SC_CLK_TCK));
  return tick_ns;
}

uint64_t NumberBehind(std::string_view text, std::string_view key) {
  const size_t at = text.find(key);
  return at == std::string_view::npos ? 0 : NumberAt(text.substr(at + key.size()));
}

uint64_t TakeNumber(std::string_view& text) { return NumberAt(TakeWord(text)); }

}  // namespace batchlight::capture
