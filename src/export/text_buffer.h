// Text on its way into a file. Numbers need no format string; the text is flushed in blocks.
#pragma once

#include <array>
#include <charconv>
#include <string>
#include <string_view>

#include "base/file.h"

namespace batchlight {

class TextBuffer {
 public:
  explicit TextBuffer(AtomicFileWriter& file) : file_(file) {}

  TextBuffer& operator<<(std::string_view text) {
    text_ += text;
    return *this;
  }
  TextBuffer& operator<<(char c) {
    text_ += c;
    return *this;
  }
  template <typename T>
  requires(std::is_integral_v<T> && !std::is_same_v<T, char>) TextBuffer& operator<<(T value) {
    std::array<char, 24> digits;
    text_.append(digits.data(),
                 std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr);
    return *this;
  }

  // Nanoseconds as microseconds with three decimals, exactly.
  void Microseconds(int64_t ns) {
    const bool negative = ns < 0;
    const uint64_t size = negative ? 0 - static_cast<uint64_t>(ns) : static_cast<uint64_t>(ns);
    if (negative) text_ += '-';
    *this << size / 1000 << '.';
    const auto rest = static_cast<unsigned>(size % 1000);
    text_ += static_cast<char>('0' + rest / 100);
    text_ += static_cast<char>('0' + rest / 10 % 10);
    text_ += static_cast<char>('0' + rest % 10);
  }

  std::string& text() { return text_; }

  // To be called now and then; Finish() writes what is left and gives the file its name.
  Status FlushIfLarge() { return text_.size() < kFlushBytes ? Status() : Flush(); }
  Status Finish() {
    RETURN_IF_ERROR(Flush());
    return file_.Commit();
  }

 private:
  static constexpr size_t kFlushBytes = 1 << 18;

  Status Flush() {
    Status status = file_.Write(text_);
    text_.clear();
    return status;
  }

  AtomicFileWriter& file_;
  std::string text_;
};

}  // namespace batchlight
