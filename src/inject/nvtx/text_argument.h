// A text that the program passed to NVTX, as UTF-8: char strings as they are, wchar_t strings
// converted.
#pragma once

#include <cstddef>
#include <cstdint>

namespace batchlight::inject::nvtx {

class TextArgument {
 public:
  TextArgument() = default;
  explicit TextArgument(const char* text);
  explicit TextArgument(const wchar_t* text) { Convert(text); }
  ~TextArgument();
  TextArgument(const TextArgument&) = delete;
  TextArgument& operator=(const TextArgument&) = delete;

  void Convert(const wchar_t* text);  // once

  const char* text() const { return text_; }
  size_t bytes() const { return bytes_; }

 private:
  const char* text_ = "";
  size_t bytes_ = 0;
  char* mapped_ = nullptr;
  size_t mapped_bytes_ = 0;
  char inline_[512];
};

// UTF-8 of up to `count` characters; writes at most 4 bytes for each. Surrogates and values beyond
// Unicode become U+FFFD.
size_t WideToUtf8(const wchar_t* text, size_t count, char* to);

}  // namespace batchlight::inject::nvtx
