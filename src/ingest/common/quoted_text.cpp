#include "ingest/common/quoted_text.h"

#include <cstdint>

#include "base/json_text.h"
#include "base/printable_text.h"

namespace batchlight {
namespace {

int HexValue(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

// Reads what follows a backslash and removes it from the input. False if the escape is unknown.
bool TakeEscape(std::string_view& rest, std::string& bytes) {
  if (rest.empty()) return false;
  const char kind = rest.front();
  rest.remove_prefix(1);
  switch (kind) {
    case 'n':
      bytes += '\n';
      return true;
    case 't':
      bytes += '\t';
      return true;
    case 'r':
      bytes += '\r';
      return true;
    case 'x': {
      if (rest.size() < 2) return false;
      const int high = HexValue(rest[0]);
      const int low = HexValue(rest[1]);
      if (high < 0 || low < 0) return false;
      bytes += static_cast<char>(high * 16 + low);
      rest.remove_prefix(2);
      return true;
    }
    default:
      bytes += kind;
      return kind == '"' || kind == '\\';
  }
}

}  // namespace

void AppendQuoted(std::string_view bytes, std::string& out) {
  constexpr char kHex[] = "0123456789abcdef";
  out += '"';
  while (!bytes.empty()) {
    const char c = bytes.front();
    size_t taken = 1;
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n' || c == '\t' || c == '\r') {
      out += '\\';
      out += c == '\n' ? 'n' : c == '\t' ? 't' : 'r';
    } else if (c >= 0x20 && c < 0x7f) {
      out += c;
    } else if (const size_t utf8 = Utf8Length(bytes); utf8 > 1 && ControlLength(bytes) == 0) {
      out += bytes.substr(0, utf8);
      taken = utf8;
    } else {
      const auto byte = static_cast<uint8_t>(c);
      out += "\\x";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
    bytes.remove_prefix(taken);
  }
  out += '"';
}

bool TakeQuoted(std::string_view& rest, std::string& bytes) {
  bytes.clear();
  if (rest.empty() || rest.front() != '"') return false;
  rest.remove_prefix(1);
  while (!rest.empty()) {
    const char c = rest.front();
    rest.remove_prefix(1);
    if (c == '"') return true;
    if (c != '\\') {
      bytes += c;
    } else if (!TakeEscape(rest, bytes)) {
      return false;
    }
  }
  return false;
}

}  // namespace batchlight
