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

namespace batchlight::format {

inline constexpr std::string_view kMask = "***";

namespace secrets {

inline char Upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

inline bool MatchesAt(std::string_view name, size_t at, std::string_view upper) {
  if (name.size() - at < upper.size()) return false;
  for (size_t i = 0; i < upper.size(); ++i) {
    if (Upper(name[at + i]) != upper[i]) return false;
  }
  return true;
}

}  // namespace secrets

// Whether values of a variable or flag of this name are secret.
inline bool IsSecretName(std::string_view name) {
  constexpr std::string_view kParts[] = {"TOKEN",  "KEY",        "SECRET",    "PASSWORD",
                                         "PASSWD", "PASSPHRASE", "CREDENTIAL"};
  for (size_t at = 0; at < name.size(); ++at) {
    for (const std::string_view part : kParts) {
      if (!secrets::MatchesAt(name, at, part)) continue;
      // TOKENIZERS_PARALLELISM and --tokenizer are in every other program.
      if (!secrets::MatchesAt(name, at, "TOKENIZ")) return true;
    }
  }
  return false;
}

// Masks the words of a command line, which are separated by `separator`. A word that holds spaces
// (sh -c "...") is a command line itself.
class CommandMask {
 public:
  explicit CommandMask(char* text) : text_(text) {}

  // Returns the number of bytes that are left.
  size_t Run(size_t bytes, char separator) {
    Words(0, bytes, separator);
    return written_;
  }

 private:
  static constexpr std::string_view kQuotes = "\"'";

  void Words(size_t begin, size_t end, char separator) {
    bool mask_next = false;
    while (begin < end) {
      const auto* found =
          static_cast<const char*>(std::memchr(text_ + begin, separator, end - begin));
      const size_t word_end = found == nullptr ? end : static_cast<size_t>(found - text_);
      const bool is_flag = begin < word_end && text_[begin] == '-';
      if (mask_next && word_end > begin && !is_flag) {
        Mask(begin, word_end);
        mask_next = false;
      } else {
        mask_next = Word(begin, word_end, separator != ' ');
      }
      if (word_end < end) text_[written_++] = separator;
      begin = word_end + 1;
    }
  }

  // True if the next word is the secret.
  bool Word(size_t begin, size_t end, bool may_be_command) {
    size_t name = begin;
    while (name < end && kQuotes.find(text_[name]) != std::string_view::npos) ++name;
    const std::string_view word(text_ + name, end - name);
    const size_t equals = word.find('=');
    const size_t space = word.find(' ');
    if (equals != std::string_view::npos && equals < space && IsSecretName({word.data(), equals})) {
      Keep(begin, name + equals + 1);
      Mask(name + equals + 1, end);
      return false;
    }
    if (may_be_command && space != std::string_view::npos) {
      Words(begin, end, ' ');
      return false;
    }
    const bool next =
        equals == std::string_view::npos && word.starts_with('-') && IsSecretName(word);
    Keep(begin, end);
    return next;
  }

  void Keep(size_t begin, size_t end) {
    std::memmove(text_ + written_, text_ + begin, end - begin);
    written_ += end - begin;
  }
  // Never longer than what it replaces: the text is read ahead of what is written.
  void Mask(size_t begin, size_t end) {
    const size_t bytes = end - begin < kMask.size() ? end - begin : kMask.size();
    std::memcpy(text_ + written_, kMask.data(), bytes);
    written_ += bytes;
  }

  char* text_;
  size_t written_ = 0;
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
  if (key == "session.command") return WithoutSecrets(std::string(value), ' ');
  const bool secret = key.substr(0, kEnvironment.size()) == kEnvironment &&
                      IsSecretName(key.substr(kEnvironment.size()));
  return std::string(secret && !value.empty() ? kMask : value);
}

}  // namespace batchlight::format
