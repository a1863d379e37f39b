#include "analysis/roofline/operator_inputs.h"

#include <charconv>

namespace batchlight {
namespace {

class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  std::vector<OperatorInput> ParseAll() {
    std::vector<OperatorInput> inputs;
    SkipSpace();
    while (!rest_.empty()) {
      inputs.push_back(ParseOne(0));
      SkipSpace();
      if (!Take(',')) break;
      SkipSpace();
    }
    return inputs;
  }

 private:
  static constexpr int kMaxDepth = 4;

  OperatorInput ParseOne(int depth) {
    OperatorInput input;
    SkipSpace();
    if (rest_.empty() || depth > kMaxDepth) return input;
    if (rest_.front() == '[') return ParseList(depth);
    const size_t end = rest_.find_first_of("[], ");
    const std::string_view word = rest_.substr(0, end);
    rest_.remove_prefix(word.size());
    if (!rest_.empty() && rest_.front() == '[') {
      input.kind = OperatorInput::Kind::kTensor;
      input.dtype = word;
      Take('[');
      ParseIntegers(&input.values);
      return input;
    }
    int64_t value = 0;
    if (std::from_chars(word.data(), word.data() + word.size(), value).ec == std::errc()) {
      input.kind = OperatorInput::Kind::kInteger;
      input.values.push_back(value);
    }
    return input;
  }

  OperatorInput ParseList(int depth) {
    OperatorInput input;
    Take('[');
    SkipSpace();
    const bool numbers = rest_.empty() || rest_.front() == ']' || rest_.front() == '-' ||
                         (rest_.front() >= '0' && rest_.front() <= '9');
    if (numbers && !rest_.starts_with("-,") && !rest_.starts_with("-]")) {
      input.kind = OperatorInput::Kind::kIntegers;
      ParseIntegers(&input.values);
      return input;
    }
    input.kind = OperatorInput::Kind::kTensorList;
    while (!rest_.empty() && !Take(']')) {
      const size_t before = rest_.size();
      input.elements.push_back(ParseOne(depth + 1));
      SkipSpace();
      Take(',');
      SkipSpace();
      if (rest_.size() == before) rest_.remove_prefix(1);  // nothing readable: go on
    }
    return input;
  }

  void ParseIntegers(std::vector<int64_t>* values) {
    while (!rest_.empty() && !Take(']')) {
      int64_t value = 0;
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
      if (error == std::errc()) {
        values->push_back(value);
        rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
      } else {
        rest_.remove_prefix(1);
      }
    }
  }

  bool Take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void SkipSpace() {
    while (Take(' ')) {
    }
  }

  std::string_view rest_;
};

}  // namespace

int64_t OperatorInput::ElementCount() const {
  if (kind == Kind::kTensorList) {
    int64_t count = 0;
    for (const OperatorInput& element : elements) count += element.ElementCount();
    return count;
  }
  if (kind != Kind::kTensor) return 0;
  int64_t count = 1;
  for (const int64_t size : values) {
    if (size < 0 || __builtin_mul_overflow(count, size, &count)) return 0;
  }
  return count;
}

std::vector<OperatorInput> ParseOperatorInputs(std::string_view text) {
  return Parser(text).ParseAll();
}

int DtypeBytes(std::string_view dtype) {
  if (dtype == "bool") return 1;
  const size_t digit = dtype.find_first_of("0123456789");
  if (digit == dtype.npos) return 0;
  int bits = 0;
  std::from_chars(dtype.data() + digit, dtype.data() + dtype.size(), bits);
  if (dtype.front() == 't' || bits % 8 != 0) return 0;
  return bits / 8;
}

}  // namespace batchlight
