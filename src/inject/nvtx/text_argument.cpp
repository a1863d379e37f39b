#include "inject/nvtx/text_argument.h"

#include <cstring>

#include "format/layout.h"
#include "inject/rt/counters.h"
#include "inject/rt/sys.h"

namespace batchlight::inject::nvtx {
namespace {

constexpr uint32_t kReplacement = 0xfffd;

size_t WideLength(const wchar_t* text, size_t limit) {
  size_t length = 0;
  while (length < limit && text[length] != 0) ++length;
  return length;
}

}  // namespace

size_t WideToUtf8(const wchar_t* text, size_t count, char* to) {
  static_assert(sizeof(wchar_t) == 4);
  char* at = to;
  for (size_t i = 0; i < count; ++i) {
    auto c = static_cast<uint32_t>(text[i]);  // NOLINT(bugprone-signed-char-misuse): wchar_t
    if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) c = kReplacement;
    if (c < 0x80) {
      *at++ = static_cast<char>(c);
      continue;
    }
    const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;  // continuation bytes
    static constexpr unsigned kLead[] = {0, 0xc0, 0xe0, 0xf0};
    *at++ = static_cast<char>(kLead[more] | c >> (6 * more));
    for (int shift = 6 * (more - 1); shift >= 0; shift -= 6) {
      *at++ = static_cast<char>(0x80 | (c >> shift & 0x3f));
    }
  }
  return static_cast<size_t>(at - to);
}

TextArgument::TextArgument(const char* text) {
  if (text == nullptr) return;
  text_ = text;
  bytes_ = std::strlen(text);
}

void TextArgument::Convert(const wchar_t* text) {
  if (text == nullptr) return;
  // One more than fits, so that whoever cuts the text also counts it.
  const size_t length = WideLength(text, format::kMaxStringBytes + 1);
  char* to = inline_;
  if (length * 4 > sizeof inline_) {
    mapped_bytes_ = (length * 4 + 4095) / 4096 * 4096;
    mapped_ = static_cast<char*>(sys::MapMemory(mapped_bytes_));
    if (mapped_ == nullptr) {
      AddCounter(format::Counter::kStringsTruncated);
      return;
    }
    to = mapped_;
  }
  text_ = to;
  bytes_ = WideToUtf8(text, length, to);
}

TextArgument::~TextArgument() {
  if (mapped_ != nullptr) sys::Unmap(mapped_, mapped_bytes_);
}

}  // namespace batchlight::inject::nvtx
