#include "ingest/common/shapes_text.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>

namespace batchlight {
namespace {

constexpr uint8_t kMaxRank = 250;
constexpr uint8_t kIntegerList = 251;
constexpr uint8_t kInteger = 252;
constexpr uint8_t kTensorList = 253;
constexpr uint8_t kUndefined = 254;
constexpr uint8_t kOther = 255;
constexpr size_t kMaxListItems = 250;

// Indexed by PyTorch's c10::ScalarType; "": a type that we have no name for.
constexpr std::array<std::string_view, 25> kTypeNames = {
    "u8",  "i8",   "i16",  "i32", "i64", "f16",    "f32",   "f64", "c32",
    "c64", "c128", "bool", "qi8", "qu8", "qi32",   "bf16",  "",    "",
    "",    "",     "",     "",    "",    "f8e5m2", "f8e4m3"};

enum class Style { kShapes, kInputs };

class InputsPrinter {
 public:
  InputsPrinter(std::string_view binary, Style style) : rest_(binary), style_(style) {}

  std::string Print() {
    std::string text;
    bool first = true;
    while (!rest_.empty()) {
      std::string input;
      if (!Input(input)) break;
      if (!first) text += ", ";
      first = false;
      text += input;
    }
    if (style_ == Style::kShapes) {
      text.insert(text.begin(), '[');
      text += ']';
    }
    return text;
  }

 private:
  bool Byte(uint8_t* byte) {
    if (rest_.empty()) return false;
    *byte = static_cast<uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return true;
  }

  bool Integer(std::string& text) {
    int64_t value = 0;
    if (rest_.size() < sizeof value) return false;
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
    char digits[24];
    text.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
    return true;
  }

  bool Integers(size_t count, std::string& text) {
    text += '[';
    for (size_t i = 0; i < count; ++i) {
      if (i > 0) text += ", ";
      if (!Integer(text)) return false;
    }
    text += ']';
    return true;
  }

  bool Tensor(uint8_t rank, std::string& text) {
    uint8_t type = 0;
    if (!Byte(&type)) return false;
    if (style_ == Style::kInputs) {
      const bool named = type < kTypeNames.size() && !kTypeNames[type].empty();
      if (named) {
        text += kTypeNames[type];
      } else {
        text += 't';
        text += std::to_string(type);
      }
    }
    return Integers(rank, text);
  }

  // In the short form, anything but a tensor is written as an empty size.
  void Other(std::string& text) { text += style_ == Style::kShapes ? "[]" : "-"; }

  bool Item(uint8_t tag, std::string& text) {
    if (tag <= kMaxRank) return Tensor(tag, text);
    Other(text);
    return tag == kUndefined || tag == kOther;
  }

  bool TensorList(std::string& text) {
    uint8_t count = 0;
    if (!Byte(&count)) return false;
    text += '[';
    for (size_t i = 0; i < count; ++i) {
      uint8_t tag = 0;
      if (i > 0) text += ", ";
      if (!Byte(&tag) || !Item(tag, text)) return false;
    }
    text += ']';
    return true;
  }

  bool Input(std::string& text) {
    uint8_t tag = 0;
    if (!Byte(&tag)) return false;
    if (tag == kTensorList) return TensorList(text);
    if (tag != kIntegerList && tag != kInteger) return Item(tag, text);
    uint8_t count = 1;
    std::string integers;
    const bool whole =
        tag == kInteger ? Integer(integers) : Byte(&count) && Integers(count, integers);
    if (style_ == Style::kShapes) {
      Other(text);
    } else {
      text += integers;
    }
    return whole;
  }

  std::string_view rest_;
  Style style_;
};

class InputsParser {
 public:
  InputsParser(std::string_view text, std::string* binary) : rest_(text), binary_(*binary) {}

  bool Parse() {
    binary_.clear();
    if (rest_.empty()) return true;
    do {
      if (!Input()) return false;
    } while (Take(','));
    return rest_.empty();
  }

 private:
  bool Take(char wanted) {
    while (rest_.starts_with(' ')) rest_.remove_prefix(1);
    if (!rest_.starts_with(wanted)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  bool Integer(std::string& bytes) {
    while (rest_.starts_with(' ')) rest_.remove_prefix(1);
    int64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc()) return false;
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    return true;
  }

  // After '[': integers up to ']'.
  bool Integers(size_t* count, std::string& bytes) {
    *count = 0;
    if (Take(']')) return true;
    do {
      if (++*count > kMaxListItems || !Integer(bytes)) return false;
    } while (Take(','));
    return Take(']');
  }

  bool TypeNumber(std::string_view name, uint8_t* type) {
    for (size_t i = 0; i < kTypeNames.size(); ++i) {
      if (kTypeNames[i] == name && !name.empty()) {
        *type = static_cast<uint8_t>(i);
        return true;
      }
    }
    return name.starts_with('t') &&
           std::from_chars(name.data() + 1, name.data() + name.size(), *type).ec == std::errc();
  }

  // "f32[8, 2]" or "-".
  bool Item() {
    if (Take('-')) {
      binary_ += static_cast<char>(kOther);
      return true;
    }
    uint8_t type = 0;
    size_t rank = 0;
    std::string sizes;
    const size_t bracket = rest_.find('[');
    if (bracket == std::string_view::npos || !TypeNumber(rest_.substr(0, bracket), &type)) {
      return false;
    }
    rest_.remove_prefix(bracket + 1);
    if (!Integers(&rank, sizes)) return false;
    binary_ += static_cast<char>(rank);
    binary_ += static_cast<char>(type);
    binary_ += sizes;
    return true;
  }

  // After '[': tensors or integers.
  bool List() {
    while (rest_.starts_with(' ')) rest_.remove_prefix(1);
    const bool integers =
        !rest_.empty() &&
        (rest_[0] == ']' || (rest_[0] >= '0' && rest_[0] <= '9') ||
         (rest_[0] == '-' && rest_.size() > 1 && rest_[1] >= '0' && rest_[1] <= '9'));
    binary_ += static_cast<char>(integers ? kIntegerList : kTensorList);
    const size_t count_place = binary_.size();
    binary_ += '\0';
    size_t count = 0;
    if (integers) {
      std::string bytes;
      if (!Integers(&count, bytes)) return false;
      binary_ += bytes;
    } else {
      do {
        while (rest_.starts_with(' ')) rest_.remove_prefix(1);
        if (++count > kMaxListItems || !Item()) return false;
      } while (Take(','));
      if (!Take(']')) return false;
    }
    binary_[count_place] = static_cast<char>(count);
    return true;
  }

  bool Input() {
    if (Take('[')) return List();
    const bool digit = !rest_.empty() && rest_[0] >= '0' && rest_[0] <= '9';
    const bool negative = rest_.size() > 1 && rest_[0] == '-' && rest_[1] >= '0' && rest_[1] <= '9';
    if (!digit && !negative) return Item();
    binary_ += static_cast<char>(kInteger);
    return Integer(binary_);
  }

  std::string_view rest_;
  std::string& binary_;
};

}  // namespace

std::string ShapesText(std::string_view binary) {
  return InputsPrinter(binary, Style::kShapes).Print();
}

std::string InputsText(std::string_view binary) {
  return InputsPrinter(binary, Style::kInputs).Print();
}

bool InputsFromText(std::string_view text, std::string* binary) {
  return InputsParser(text, binary).Parse();
}

}  // namespace batchlight
