#include "export/name_pattern.h"

#include <regex.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>
#include <vector>

namespace batchlight {
namespace {

// Whole names of kernels have some thousand characters. What these bounds let through is compiled
// in less than a second; against what names it then looks for ever, is the user's own.
constexpr size_t kMostCharacters = 8000;
constexpr size_t kMostNested = 50;
constexpr uint64_t kMostCopies = 1000;
constexpr size_t kMostOpenGroups = 200;  // that repeat as often as they like

// Walks an expression as the compiler reads it and counts what that would write out: x{2,5} is
// five x, x+ two. What is no expression is left for the compiler to say.
class PatternSize {
 public:
  PatternSize(std::string_view text, bool is_extended) : text_(text), is_extended_(is_extended) {}

  // Nothing, or why it is not to be compiled.
  std::string_view Objection() {
    if (text_.size() > kMostCharacters) return "is longer than 8000 characters";
    while (at_ < text_.size()) {
      const char letter = text_[at_];
      if (letter == '[') {
        SkipBrackets();
      } else if (letter == '\\' && at_ + 1 < text_.size()) {
        const char escaped = text_[at_ + 1];
        at_ += 2;
        if (escaped >= '1' && escaped <= '9') return "refers back to what matched before";
        Take(escaped, !is_extended_);
      } else {
        ++at_;
        if (letter == '*') {
          open_groups_ += last_ > 1 || (at_ > 1 && text_[at_ - 2] == ')');
          Repeat(1);
        } else {
          Take(letter, is_extended_);
        }
      }
      if (groups_.size() > kMostNested) return "has more than 50 parentheses within each other";
      if (open_groups_ > kMostOpenGroups) return "repeats more than 200 groups";
      if (last_ > kMost || groups_.back() > kMost) return "repeats more than 1000 times";
    }
    EndPart();
    return groups_.back() > text_.size() + kMostCopies ? "repeats more than 1000 times" : "";
  }

 private:
  static constexpr uint64_t kMost = kMostCharacters + kMostCopies;

  void EndPart() {
    groups_.back() += last_;
    last_ = 0;
  }
  // Sizes stay far below 64 bits: a count is at most 10^6 here, and what is larger than kMost ends
  // the walk.
  void Repeat(uint64_t times) { last_ *= times; }

  void Take(char letter, bool is_special) {
    if (is_special && letter == '(') {
      EndPart();
      groups_.push_back(1);
    } else if (is_special && letter == ')' && groups_.size() > 1) {
      EndPart();
      last_ = groups_.back();
      groups_.pop_back();
    } else if (is_special && letter == '+') {
      open_groups_ += at_ > 1 && text_[at_ - 2] == ')';
      Repeat(2);
    } else if (is_special && letter == '?') {
      Repeat(1);
    } else if (is_special && letter == '{') {
      Repeat(std::max<uint64_t>(1, std::max(Number(), Number())));
      const std::string_view end = is_extended_ ? "}" : "\\}";
      if (text_.substr(at_).starts_with(end)) at_ += end.size();
    } else {
      EndPart();
      last_ = 1;
    }
  }

  uint64_t Number() {
    if (at_ < text_.size() && text_[at_] == ',') ++at_;
    uint64_t number = 0;
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), number);
    at_ += static_cast<size_t>(end - begin);
    return error == std::errc() ? std::min<uint64_t>(number, 1'000'000)
                                : (end == begin ? 0 : 1'000'000);
  }

  void SkipBrackets() {
    EndPart();
    last_ = 1;
    ++at_;
    if (at_ < text_.size() && text_[at_] == '^') ++at_;
    if (at_ < text_.size() && text_[at_] == ']') ++at_;
    while (at_ < text_.size() && text_[at_] != ']') {
      const bool is_class = text_[at_] == '[' && at_ + 1 < text_.size() &&
                            std::string_view(":.=").find(text_[at_ + 1]) != std::string_view::npos;
      const size_t end = is_class ? text_.find(']', at_ + 2) : at_;
      at_ = end == std::string_view::npos ? text_.size() : end + 1;
    }
    ++at_;
  }

  std::string_view text_;
  bool is_extended_;
  size_t at_ = 0;
  std::vector<uint64_t> groups_{0};
  uint64_t last_ = 0;
  size_t open_groups_ = 0;
};

std::string Shortened(const std::string& text) {
  return text.size() <= 60 ? text : text.substr(0, 57) + "...";
}

}  // namespace

struct NamePattern::Compiled {
  regex_t regex{};
  bool is_compiled = false;
  ~Compiled() {
    if (is_compiled) regfree(&regex);
  }
};

Result<NamePattern> NamePattern::Make(const std::string& option, const std::string& text,
                                      Kind kind) {
  const bool is_extended = kind == Kind::kExtended;
  const std::string what = option + ": \"" + Shortened(text) + "\" ";
  const std::string_view objection = PatternSize(text, is_extended).Objection();
  if (!objection.empty()) {
    return UsageError(what + std::string(objection) + ", which can take for ever; name less of it");
  }
  auto compiled = std::make_shared<Compiled>();
  const int flags = is_extended ? REG_EXTENDED : REG_ICASE;
  const int error = regcomp(&compiled->regex, text.c_str(), flags | REG_NOSUB);
  if (error != 0) {
    char words[128];
    regerror(error, &compiled->regex, words, sizeof words);
    return UsageError(what + "is not a regular expression: " + words);
  }
  compiled->is_compiled = true;
  return NamePattern(std::move(compiled));
}

bool NamePattern::Matches(const std::string& name) const {
  return regexec(&compiled_->regex, name.c_str(), 0, nullptr, 0) == 0;
}

}  // namespace batchlight
