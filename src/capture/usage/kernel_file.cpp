#include "capture/usage/kernel_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <vector>

namespace batchlight::capture {
namespace {

uint64_t NumberAt(std::string_view text) {
  uint64_t number = 0;
  const size_t digits = text.find_first_not_of(' ');
  if (digits == std::string_view::npos) return 0;
  std::from_chars(text.data() + digits, text.data() + text.size(), number);
  return number;
}

std::string_view TakeUntil(std::string_view& text, char end) {
  const size_t at = text.find(end);
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  return taken;
}

}  // namespace

KernelFile::KernelFile(const std::string& path) : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}

KernelFile& KernelFile::operator=(KernelFile&& other) noexcept {
  Close();
  fd_ = std::exchange(other.fd_, -1);
  return *this;
}

void KernelFile::Close() {
  if (fd_ >= 0) close(std::exchange(fd_, -1));
}

std::string_view KernelFile::Read() {
  static thread_local std::vector<char> buffer(16 << 10);
  if (fd_ < 0) return {};
  size_t bytes = 0;
  // Lists come a page at a time, whatever is asked for; what is much less than a page is all.
  constexpr ssize_t kSurelyAll = 2048;
  while (true) {
    const ssize_t got =
        pread(fd_, buffer.data() + bytes, buffer.size() - bytes, static_cast<off_t>(bytes));
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

std::string_view TakeLine(std::string_view& text) { return TakeUntil(text, '\n'); }

std::string_view TakeWord(std::string_view& text) {
  const size_t begin = text.find_first_not_of(' ');
  text.remove_prefix(begin == std::string_view::npos ? text.size() : begin);
  return TakeUntil(text, ' ');
}

uint64_t TakeNumber(std::string_view& text) { return NumberAt(TakeWord(text)); }

}  // namespace batchlight::capture
