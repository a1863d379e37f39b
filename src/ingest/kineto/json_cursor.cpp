#include "ingest/kineto/json_cursor.h"

#include <algorithm>
#include <charconv>

namespace batchlight {
namespace {

bool FourHex(std::string_view text, uint32_t* value) {
  if (text.size() < 4) return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + 4, *value, 16);
  return error == std::errc() && end == text.data() + 4;
}

void AppendUtf8(uint32_t code, std::string& out) {
  const auto low = [&](int shift) { return static_cast<char>(0x80 | ((code >> shift) & 0x3f)); };
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | (code >> 6));
    out += low(0);
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | (code >> 12));
    out += low(6);
    out += low(0);
  } else {
    out += static_cast<char>(0xf0 | (code >> 18));
    out += low(12);
    out += low(6);
    out += low(0);
  }
}

// \uXXXX at the front of `rest`, with its second half if it is a surrogate. Returns the bytes
// taken.
size_t TakeUnicode(std::string_view rest, std::string& out) {
  uint32_t code = 0;
  if (!FourHex(rest.substr(2), &code)) return 0;
  if (code < 0xd800 || code > 0xdfff) {
    AppendUtf8(code, out);
    return 6;
  }
  uint32_t second = 0;
  if (code < 0xdc00 && rest.substr(6).starts_with("\\u") && FourHex(rest.substr(8), &second) &&
      second >= 0xdc00 && second <= 0xdfff) {
    AppendUtf8(0x10000 + ((code - 0xd800) << 10) + (second - 0xdc00), out);
    return 12;
  }
  AppendUtf8(0xfffd, out);
  return 6;
}

}  // namespace

std::string UnescapeJson(std::string_view raw) {
  constexpr std::string_view kEscapes = "\"\\/bfnrt";
  constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
  std::string out;
  out.reserve(raw.size());
  while (!raw.empty()) {
    const size_t plain = std::min(raw.find('\\'), raw.size());
    out += raw.substr(0, plain);
    raw.remove_prefix(plain);
    if (raw.empty()) break;
    size_t taken = 0;
    if (raw.size() >= 2 && raw[1] == 'u') {
      taken = TakeUnicode(raw, out);
    } else if (const size_t known = raw.size() < 2 ? kEscapes.npos : kEscapes.find(raw[1]);
               known != kEscapes.npos) {
      out += kMeanings[known];
      taken = 2;
    }
    if (taken == 0) {
      out += '\\';
      taken = 1;
    }
    raw.remove_prefix(taken);
  }
  return out;
}

}  // namespace batchlight
