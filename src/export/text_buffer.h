// Text on its way into a file. Numbers need no format string; the text is flushed in blocks.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/json_text.h"

namespace batchlight {

// A block of its own, not a std::string: an export of millions of events is a billion small texts,
// and a call and an ending NUL for each were a tenth of its time.
class TextBuffer {
 public:
  explicit TextBuffer(AtomicFileWriter& file) : file_(file) {}

  TextBuffer& operator<<(std::string_view text) {
    if (text.empty()) return *this;
    std::memcpy(Room(text.size()), text.data(), text.size());
    size_ += text.size();
    return *this;
  }
  TextBuffer& operator<<(char c) {
    *Room(1) = c;
    ++size_;
    return *this;
  }
  template <typename T>
  requires(std::is_integral_v<T> && !std::is_same_v<T, char>) TextBuffer& operator<<(T value) {
    char* const begin = Room(kDigits);
    size_ += static_cast<size_t>(std::to_chars(begin, begin + kDigits, value).ptr - begin);
    return *this;
  }

  // Nanoseconds as microseconds with three decimals, exactly.
  void Microseconds(int64_t ns) {
    const bool negative = ns < 0;
    const uint64_t size = negative ? 0 - static_cast<uint64_t>(ns) : static_cast<uint64_t>(ns);
    if (negative) *this << '-';
    *this << size / 1000;
    const auto rest = static_cast<unsigned>(size % 1000);
    char* const decimals = Room(4);
    decimals[0] = '.';
    decimals[1] = static_cast<char>('0' + rest / 100);
    decimals[2] = static_cast<char>('0' + rest / 10 % 10);
    decimals[3] = static_cast<char>('0' + rest % 10);
    size_ += 4;
  }

  // As the inside of a JSON string.
  void Escaped(std::string_view text) {
    escaped_.clear();
    AppendJsonEscaped(text, escaped_);
    *this << escaped_;
  }

  // To be called now and then; Finish() writes what is left and gives the file its name.
  Status FlushIfLarge() { return size_ < kFlushBytes ? Status() : Flush(); }
  Status Finish() {
    RETURN_IF_ERROR(Flush());
    return file_.Commit();
  }

 private:
  static constexpr size_t kFlushBytes = 1 << 18;
  static constexpr size_t kDigits = 24;  // of any integer, with its sign

  char* Room(size_t bytes) {
    if (capacity_ - size_ < bytes) Grow(bytes);
    return block_.get() + size_;
  }

  void Grow(size_t bytes) {
    capacity_ = std::max(2 * kFlushBytes, 2 * (size_ + bytes));
    std::unique_ptr<char[]> larger(new char[capacity_]);
    if (size_ > 0) std::memcpy(larger.get(), block_.get(), size_);
    block_ = std::move(larger);
  }

  Status Flush() {
    Status status = file_.Write({block_.get(), size_});
    size_ = 0;
    return status;
  }

  AtomicFileWriter& file_;
  std::unique_ptr<char[]> block_;
  size_t size_ = 0;
  size_t capacity_ = 0;
  std::string escaped_;
};

}  // namespace batchlight
