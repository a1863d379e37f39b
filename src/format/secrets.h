// Secrets on command lines and in the environment: values of names such as WANDB_API_KEY or
// --password become "***" before they are stored, and again when a recording is read. In place and
// without memory of its own, since the recorded program's side does it too.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "format/secret_names.h"

namespace batchlight::format {

inline constexpr std::string_view kMask = "***";

// Masks the words of a command line, which are separated by `separator`. A word that holds blanks
// (sh -c "...") is a command line itself, whose words end as a shell's do. Where the end of a value
// cannot be told it is masked too far rather than too little.
class CommandMask {
 public:
  explicit CommandMask(char* text) : text_(text) {}

  // Returns the number of bytes that are left.
  size_t Run(size_t bytes, char separator) {
    const bool one_script = separator == ' ';
    if (one_script) separator = '\0';
    bool mask_next = false, is_script = one_script;
    for (size_t begin = 0; begin < bytes;) {
      const void* found = std::memchr(text_ + begin, separator, bytes - begin);
      const size_t end =
          found == nullptr ? bytes : static_cast<size_t>(static_cast<const char*>(found) - text_);
      const bool is_flag = end > begin && text_[begin] == '-';
      // sh -c, python -c
      const bool script_follows =
          is_flag && end > begin + 1 && text_[begin + 1] != '-' && text_[end - 1] == 'c';
      kept_ = begin;
      if (mask_next && end > begin && !is_flag) {
        Mask(begin, end);
        mask_next = false;
      } else {
        mask_next = Words(begin, end, is_script);
      }
      is_script = one_script || script_follows;
      if (end < bytes) text_[written_++] = separator;
      begin = end + 1;
    }
    return written_;
  }

 private:
  // A quotation mark, with backslashes where the text around it is quoted itself.
  struct Quote {
    size_t bytes = 0;  // 0: there is none
    char mark = 0;

    bool operator==(const Quote&) const = default;
  };

  struct Name {
    size_t begin = 0;
    size_t end = 0;
    char before = 0;  // 0 at the beginning
    Quote quote;      // right in front of it
    bool quoted = false;
  };

  static bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
  static bool InName(char c) {
    return secrets::IsLetter(c) || secrets::IsDigit(c) || c == '_' || c == '-' || c == '.';
  }
  static bool IsOneOf(char c, std::string_view list) {
    return list.find(c) != std::string_view::npos;
  }

  // True if the next word is the secret. In a script, and behind the first blank, a value ends with
  // a shell's word, else with `end`.
  bool Words(size_t begin, size_t end, bool script) {
    end_ = end;
    script_ = script;
    no_user_before_ = begin;
    bool next = false;
    Name name;  // that comes next
    for (size_t at = begin; at < end;) {
      if (InName(text_[at])) {
        name.begin = name.end = at;
        while (name.end < end && InName(text_[name.end])) ++name.end;
        is_web_ = secrets::IsOneOf({text_ + at, name.end - at}, "HTTP HTTPS");
        at = AfterName(name, &next);
        name = {.before = at == name.end ? text_[at - 1] : '*'};
        continue;
      }
      const Quote quote = QuoteAt(at);
      script_ |= IsBlank(text_[at]);
      next &= quote.bytes > 0 || IsBlank(text_[at]);
      name = {.before = text_[at], .quote = quote};
      at = text_[at] == ':' ? AfterColon(at) : at + std::max<size_t>(quote.bytes, 1);
    }
    Keep(end);
    return next;
  }

  // Masks the value of the name where that is secret, and returns where to go on.
  size_t AfterName(Name& name, bool* next) {
    const std::string_view text(text_ + name.begin, name.end - name.begin);
    *next = false;
    const bool in_query = IsOneOf(name.before, "?&");
    if (!IsSecretName(text) &&
        !(in_query && (secrets::EndsWith(text, "SIG") || secrets::EndsWith(text, "SIGNATURE")))) {
      return name.end;
    }
    name.quoted = name.quote.bytes > 0 && QuoteAt(name.end) == name.quote;
    const size_t behind = name.end + (name.quoted ? name.quote.bytes : 0);
    size_t at = SkipBlanks(behind);
    const bool is_flag = text.front() == '-';
    if (at == end_) {
      *next = is_flag;
      return name.end;
    }
    if (name.quoted && text_[at] == ']') at = SkipBlanks(at + 1);  // environ["TOKEN"] = ...
    const char sign = at < end_ ? text_[at] : '\0';
    const size_t value = SkipBlanks(at + 1);
    if (sign == '=' && value >= end_) {
      *next = is_flag;
      return end_;
    }
    // But not: if token: x = 1
    const bool is_code =
        name.before == ' ' && secrets::IsOneOf(text, "KEY TOKEN") && !BeginsLine(name.begin);
    const size_t typed = sign == ':' ? AfterType(value) : value;
    if (typed > value && (!is_code || QuoteAt(typed).bytes > 0)) {
      const size_t end = script_ ? WordEnd(typed) : end_;
      Mask(value, end);
      return end;
    }
    const bool value_is_quoted = QuoteAt(value).bytes > 0;
    bool has_value = false;
    if (sign == '=' && value < end_ && text_[at + 1] != '=') {
      // Blanks are around it in code, where only quoted text is a value, but for lines of settings.
      has_value = (at == behind && value == at + 1) || value_is_quoted ||
                  (BeginsLine(name.begin) && !secrets::IsOneOf(text, "KEY TOKEN"));
    } else if (sign == ':' && !is_code) {
      has_value = name.quoted || is_flag || value > at + 1 || IsOneOf(name.before, "{,");
    } else if (sign == ',') {
      has_value = name.quoted && value_is_quoted;  // ["--token", "..."], putenv("TOKEN", "...")
    }
    if (has_value) return Value(name, value, sign);
    if (!is_flag || at == behind || sign == '-') return name.end;
    script_ = true;
    return Value(name, at, ' ');
  }

  size_t Value(const Name& name, size_t begin, char sign) {
    size_t limit = end_;
    const bool enclosed = name.quote.bytes > 0 && !name.quoted;  // "TOKEN=a b"
    if (enclosed) limit = Closing(name.quote, begin);
    const Quote opening = QuoteAt(begin);
    if (opening.bytes > 0 && begin + opening.bytes <= limit) {
      const size_t close = std::min(Closing(opening, begin + opening.bytes), limit);
      const bool closed = close < limit && QuoteAt(close) == opening;
      const size_t after = closed ? close + opening.bytes : close;
      if (after >= limit || !closed || IsBlank(text_[after]) || IsOneOf(text_[after], ",;&|)]}")) {
        Mask(begin + opening.bytes, close);
        return after;
      }
    }
    size_t end = limit;
    if (name.quoted && sign == ':') {
      end = std::min(limit, FieldEnd(begin));
    } else if (IsOneOf(name.before, "?&")) {
      for (end = begin; end < limit && !IsBlank(text_[end]) && !IsOneOf(text_[end], "&#\"'");)
        ++end;
    } else if (script_ && !enclosed) {
      end = std::min(limit, WordEnd(begin));
      // Authorization: Bearer ...
      if (sign == ':' &&
          secrets::IsOneOf({text_ + begin, end - begin}, "BEARER BASIC TOKEN DIGEST")) {
        end = std::min(limit, WordEnd(SkipBlanks(end)));
      }
    }
    Mask(begin, end);
    return end;
  }

  // Of a URL's user and password: what is between "://" and "@". Returns where to go on.
  size_t AfterColon(size_t colon) {
    const size_t begin = colon + 3;
    if (begin >= end_ || text_[colon + 1] != '/' || text_[colon + 2] != '/') return colon + 1;
    size_t sign = end_, password = end_, at = begin;
    for (; at < end_ && !IsBlank(text_[at]) && !IsOneOf(text_[at], "/?#\"'"); ++at) {
      if (text_[at] == '@') sign = at;
      if (text_[at] == ':' && password == end_) password = at + 1;
    }
    const bool is_port = password < end_ && password < at && secrets::IsDigit(text_[password]);
    if (sign == end_ && password < end_ && !is_port && at >= no_user_before_) {
      // A password may have a slash in it.
      for (; at < end_ && !IsBlank(text_[at]) && !IsOneOf(text_[at], "\"'"); ++at) {
        if (text_[at] == '@') sign = at;
      }
      no_user_before_ = at;
    }
    if (sign == end_) return begin;
    if (is_web_) password = begin;  // which may be a token alone
    if (password < sign) Mask(password, sign);
    return sign;
  }

  Quote QuoteAt(size_t at) const {
    constexpr size_t kMaxBackslashes = 7;
    size_t mark = at;
    while (mark < end_ && mark < at + kMaxBackslashes && text_[mark] == '\\') ++mark;
    if (mark >= end_ || !IsOneOf(text_[mark], "\"'")) return {};
    return {.bytes = mark + 1 - at, .mark = text_[mark]};
  }

  // Where the text that `quote` opens ends, at the latest with the text around it.
  size_t Closing(const Quote& quote, size_t at) const {
    while (at < end_) {
      const Quote other = QuoteAt(at);
      if (other.mark == quote.mark && other.bytes <= quote.bytes) return at;
      const bool escapes = other.bytes == 0 && text_[at] == '\\';
      at += escapes ? 2 : std::max<size_t>(other.bytes, 1);
    }
    return end_;
  }

  // In code, where the value begins behind a type (key: str = "..."); `at` where there is none.
  size_t AfterType(size_t at) const {
    size_t sign = at;
    for (int depth = 0; sign < end_; ++sign) {
      if (text_[sign] == '[') ++depth;
      if (text_[sign] == ']') --depth;
      const bool in_type = InName(text_[sign]) || IsOneOf(text_[sign], "[]| ");
      if (!in_type && (depth <= 0 || text_[sign] != ',')) break;
    }
    const bool is_sign = sign + 1 < end_ && text_[sign] == '=' && text_[sign + 1] != '=';
    return is_sign && sign > at ? SkipBlanks(sign + 1) : at;
  }

  // Whether nothing but blanks is between the beginning of a line and this; not of the first.
  bool BeginsLine(size_t at) const {
    while (at > 0 && (text_[at - 1] == ' ' || text_[at - 1] == '\t')) --at;
    return at > 0 && text_[at - 1] == '\n';
  }

  // The end of a shell's word.
  size_t WordEnd(size_t at) const {
    if (at < end_ && text_[at] == '(') at = BracketEnd(at, '(', ')');  // TOKENS=(a b)
    while (at < end_ && !IsBlank(text_[at])) {
      const Quote quote = QuoteAt(at);
      if (quote.bytes > 0) {
        at = Closing(quote, at + quote.bytes);
        at += QuoteAt(at).bytes;
      } else if (text_[at] == '$' && at + 1 < end_ && text_[at + 1] == '(') {
        at = BracketEnd(at + 1, '(', ')');
      } else if (text_[at] == '`') {
        for (++at; at < end_ && text_[at] != '`';) ++at;
        ++at;
      } else {
        at += text_[at] == '\\' ? 2 : 1;
      }
    }
    return std::min(at, end_);
  }

  // The end of a field's value in JSON that is no text.
  size_t FieldEnd(size_t at) const {
    if (at < end_ && text_[at] == '{') return BracketEnd(at, '{', '}');
    if (at < end_ && text_[at] == '[') return BracketEnd(at, '[', ']');
    while (at < end_ && !IsBlank(text_[at]) && !IsOneOf(text_[at], ",}])")) ++at;
    return at;
  }

  size_t BracketEnd(size_t at, char open, char close) const {
    for (size_t depth = 0; at < end_; ++at) {
      if (text_[at] == open) ++depth;
      if (text_[at] == close && --depth == 0) return at + 1;
    }
    return end_;
  }

  size_t SkipBlanks(size_t at) const {
    while (at < end_ && IsBlank(text_[at])) ++at;
    return at;
  }

  void Keep(size_t end) {
    std::memmove(text_ + written_, text_ + kept_, end - kept_);
    written_ += end - kept_;
    kept_ = end;
  }

  // Never longer than what it replaces: the text is read ahead of what is written.
  void Mask(size_t begin, size_t end) {
    Keep(begin);
    const size_t bytes = std::min(end - begin, kMask.size());
    std::memcpy(text_ + written_, kMask.data(), bytes);
    written_ += bytes;
    kept_ = end;
  }

  char* text_;
  size_t written_ = 0;
  size_t kept_ = 0;  // up to here the text has been written
  size_t end_ = 0;   // of the word
  bool script_ = false;
  bool is_web_ = false;        // the last name was http
  size_t no_user_before_ = 0;  // no URL that ends before this has a user
};

// Returns the number of bytes that are left of `bytes`.
inline size_t MaskSecrets(char* command, size_t bytes, char separator) {
  return CommandMask(command).Run(bytes, separator);
}

inline std::string WithoutSecrets(std::string command, char separator) {
  command.resize(MaskSecrets(command.data(), command.size(), separator));
  return command;
}

// The words of a command as one line for people.
inline std::string CommandWithoutSecrets(const std::vector<std::string>& words) {
  std::string command;
  for (const std::string& word : words) command.append(word).append(1, '\0');
  command = WithoutSecrets(std::move(command), '\0');
  if (!command.empty()) command.pop_back();
  std::replace(command.begin(), command.end(), '\0', ' ');
  return command;
}

// Of a property "environment.NAME" or "session.command"; others are as they are.
inline std::string PropertyWithoutSecrets(std::string_view key, std::string_view value) {
  constexpr std::string_view kEnvironment = "environment.";
  const bool is_variable = key.substr(0, kEnvironment.size()) == kEnvironment;
  if (!is_variable && key != "session.command") return std::string(value);
  if (is_variable && !value.empty() && IsSecretName(key.substr(kEnvironment.size()))) {
    return std::string(kMask);
  }
  return WithoutSecrets(std::string(value), ' ');  // EXTRA_ARGS="--api-key=...", URLs
}

}  // namespace batchlight::format
