#include "ingest/common/kernel_name.h"

namespace batchlight {
namespace {

constexpr std::string_view kAnonymous = "(anonymous namespace)";

// Reads a demangled name from the left, up to its parameter list, and remembers where the last name
// component at the outer level begins and ends.
class NameScan {
 public:
  explicit NameScan(std::string_view text) : text_(text) {}

  std::string_view Find() {
    while (at_ < text_.size() && Step()) {
    }
    if (end_ == begin_) end_ = at_;
    return text_.substr(begin_, end_ - begin_);
  }

 private:
  bool InOperator() const { return text_.substr(begin_, at_ - begin_) == "operator"; }

  void Begin(size_t at) { begin_ = end_ = at_ = at; }

  // Skips a bracket and what is in it.
  void SkipBracket() {
    int depth = 0;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '<' || c == '(' || c == '[' || c == '{') ++depth;
      // The '>' of "->" closes no bracket.
      if (c == '>' && at_ > 0 && text_[at_ - 1] == '-') continue;
      if ((c == '>' || c == ')' || c == ']' || c == '}') && --depth == 0) break;
    }
    if (at_ < text_.size()) ++at_;
  }

  // False: the name is complete.
  bool Step() {
    const char c = text_[at_];
    if (InOperator()) return StepOperator();
    if (text_.substr(at_).starts_with(kAnonymous)) {
      at_ += kAnonymous.size();
    } else if (text_.substr(at_).starts_with("::")) {
      Begin(at_ + 2);
    } else if (c == ' ') {
      Begin(at_ + 1);
    } else if (c == '<') {
      end_ = at_;
      SkipBracket();
    } else if (c == '(') {
      if (end_ == begin_) end_ = at_;
      return at_ == begin_ ? (SkipBracket(), true) : false;
    } else {
      ++at_;
    }
    return true;
  }

  // The symbol of an operator belongs to its name, brackets and all.
  bool StepOperator() {
    at_ += text_.substr(at_).starts_with("()") ? 2 : 0;
    while (at_ < text_.size() && text_[at_] != '(') ++at_;
    end_ = at_;
    return false;
  }

  std::string_view text_;
  size_t at_ = 0;
  size_t begin_ = 0;
  size_t end_ = 0;
};

}  // namespace

std::string_view ShortKernelName(std::string_view demangled) {
  const std::string_view name = NameScan(demangled).Find();
  return name.empty() ? demangled : name;
}

}  // namespace batchlight
