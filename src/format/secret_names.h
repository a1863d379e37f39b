// Which names of variables, flags and fields stand for secrets: by the words that they are made of
// (WANDB_API_KEY, --hub_token, dbPassword), since --num-tokens and --sort-key stand for none.
#pragma once

#include <cstddef>
#include <string_view>

namespace batchlight::format {

namespace secrets {

inline char Upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

inline bool MatchesAt(std::string_view text, size_t at, std::string_view upper) {
  if (text.size() - at < upper.size()) return false;
  for (size_t i = 0; i < upper.size(); ++i) {
    if (Upper(text[at + i]) != upper[i]) return false;
  }
  return true;
}

inline bool Is(std::string_view text, std::string_view upper) {
  return text.size() == upper.size() && MatchesAt(text, 0, upper);
}

inline bool EndsWith(std::string_view text, std::string_view upper) {
  return text.size() >= upper.size() && MatchesAt(text, text.size() - upper.size(), upper);
}

// Where `text` has `upper` in it, else its size.
inline size_t Find(std::string_view text, std::string_view upper) {
  for (size_t at = 0; at < text.size(); ++at) {
    if (MatchesAt(text, at, upper)) return at;
  }
  return text.size();
}

// Whether `word` is one of `list`, which are separated by blanks.
inline bool IsOneOf(std::string_view word, std::string_view list) {
  while (!list.empty()) {
    const size_t end = list.find(' ');
    if (Is(word, list.substr(0, end))) return true;
    list.remove_prefix(end == std::string_view::npos ? list.size() : end + 1);
  }
  return false;
}

inline constexpr bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
inline constexpr bool IsLetter(char c) { return IsLower(c) || (c >= 'A' && c <= 'Z'); }
inline constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// The next word of a name, which is taken from it: max_tokens, maxTokens and MAX-TOKENS have two.
inline std::string_view NextWord(std::string_view& name) {
  size_t begin = 0;
  while (begin < name.size() && !IsLetter(name[begin])) ++begin;
  size_t end = begin;
  while (end < name.size() && IsLetter(name[end]) &&
         (end == begin || IsLower(name[end]) || !IsLower(name[end - 1]))) {
    ++end;
  }
  const std::string_view word(name.data() + begin, end - begin);  // substr may throw
  name.remove_prefix(end);
  return word;
}

inline bool IsKey(std::string_view word) {
  if (IsOneOf(word, "MONKEY DONKEY TURKEY HOCKEY WHISKEY JOCKEY HOTKEY")) return false;
  return EndsWith(word, "KEY") || EndsWith(word, "KEYS");
}

// Words that say that a key or token beside them is one of a model or of its data...
inline constexpr std::string_view kOfModels =
    "PAD EOS BOS CLS SEP MASK UNK STOP START END SPECIAL MAX MIN NUM N IMAGE IMG AUDIO VIDEO "
    "VISION "
    "PATCH TEXT CLASS ID LEN LENGTH COUNT LEVEL DIM EMBED EMBEDDING DROPOUT DROP PER LOSS LIMIT "
    "BUDGET MIXING SHIFT MERGE MERGING SIZE PROB RATE WEIGHT NEXT FIRST LAST PREFIX LABEL TARGET "
    "INPUT "
    "OUTPUT DATA DATASET FEATURE COLUMN SORT PRIMARY FOREIGN PUBLIC STATE DICT METRIC MONITOR "
    "QUERY "
    "VALUE HEAD HEADS PADDING WORD CACHE PARTITION GROUP HASH PROMPT RESPONSE ANSWER QUESTION "
    "CAPTION "
    "REWARD MESSAGE MESSAGES MODEL SCORE";
// ... and those by which it is a secret all the same.
inline constexpr std::string_view kOfAccess = "API ACCESS AUTH PRIVATE SESSION REFRESH BEARER";
// Last words of names that say where the secret is, or what kind of one.
inline constexpr std::string_view kPlaces = "FILE PATH DIR STDIN URL URI TYPE";

// Whether `last`, with `before` in front of it (else empty), ends a name of secrets.
inline bool EndsSecret(std::string_view last, std::string_view before) {
  if (IsOneOf(last, "AUTHORIZATION COOKIE COOKIES JWT BEARER")) return true;
  if (Is(last, "AUTH")) return !IsOneOf(before, "NO USE ENABLE DISABLE REQUIRE");
  if (IsOneOf(last, "PWD PAT")) return !before.empty() && !Is(before, "OLD");
  if (!EndsWith(last, "PASS")) return false;
  return !IsOneOf(last, "BYPASS COMPASS LOWPASS HIGHPASS BANDPASS") &&
         !IsOneOf(before,
                  "ONE TWO SINGLE MULTI FORWARD BACKWARD FIRST SECOND NUM N LOW HIGH BAND BY "
                  "PER MAX FULL");
}

}  // namespace secrets

// Whether values of a variable, flag or field of this name are secret.
inline bool IsSecretName(std::string_view name) {
  bool of_model = false, of_access = false, key = false, tokens = false, is_variable = true;
  std::string_view last, before;
  for (std::string_view rest = name;;) {
    const std::string_view word = secrets::NextWord(rest);
    if (word.empty()) break;
    before = last;
    last = word;
    // ID_TOKEN is a secret, pad_token_id none.
    of_model |= secrets::IsOneOf(word, secrets::kOfModels) && (key || !secrets::Is(word, "ID"));
    of_access |= secrets::IsOneOf(word, secrets::kOfAccess);
    const size_t token = secrets::Find(word, "TOKEN");
    // TOKENIZERS_PARALLELISM and --tokenizer are in every other program.
    if (token < word.size() && !secrets::MatchesAt(word, token, "TOKENIZ")) {
      (secrets::EndsWith(word, "TOKENS") ? tokens : key) = true;
    }
    key |= secrets::IsKey(word);
  }
  if (last.empty() || secrets::IsOneOf(last, secrets::kPlaces)) return false;
  for (const std::string_view part : {"SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL"}) {
    if (secrets::Find(name, part) < name.size()) return true;
  }
  // Of variables (INPUT_GITHUB_TOKEN, VISION_KEY) the last word says it, whatever is before.
  for (const char c : name) is_variable &= !secrets::IsLower(c) && c != '-';
  const bool ends_so = secrets::IsKey(last) || secrets::Is(last, "TOKEN") ||
                       (secrets::Is(last, "TOKENS") && !of_model);
  return secrets::EndsSecret(last, before) || (key && (of_access || !of_model)) ||
         (tokens && of_access) || (is_variable && ends_so);
}

}  // namespace batchlight::format
