#include "cli/flags/flags.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <system_error>

#include "base/file.h"
#include "base/nearest.h"
#include "base/split.h"

namespace batchlight::cli {
namespace {

bool IsNumber(std::string_view text, bool decimal) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  return result.ec == std::errc() && result.ptr == end && number >= 0 &&
         (decimal || text.find('.') == std::string_view::npos);
}

bool HasCapital(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

bool FitsOne(std::string_view alternative, std::string_view value) {
  if (alternative == value) return true;
  if (alternative == "N") return IsNumber(value, false);
  if (alternative == "SECONDS") return IsNumber(value, true);
  return !IsLiteral(alternative) && !value.empty();
}

bool Fits(const FlagSpec& spec, std::string_view value) {
  std::string_view grammar = spec.values;
  if (spec.IsList()) grammar.remove_suffix(4);
  const auto alternatives = SplitAt(grammar, '|');
  const auto fits = [&](std::string_view one) {
    return std::any_of(alternatives.begin(), alternatives.end(),
                       [&](std::string_view alternative) { return FitsOne(alternative, one); });
  };
  if (!spec.IsList()) return fits(value);
  const auto items = SplitAtCommas(value);
  return !items.empty() && std::all_of(items.begin(), items.end(), fits);
}

std::string Spelled(const FlagSpec& spec) { return "--" + std::string(spec.name); }

const FlagSpec* FindFlag(Verb verb, std::string_view name, char short_name) {
  for (const FlagSpec& spec : kFlags) {
    const bool same = short_name != 0 ? spec.short_name == short_name : spec.name == name;
    if (same && spec.verbs.find(static_cast<char>(verb)) != std::string_view::npos) return &spec;
  }
  return nullptr;
}

Status UnknownFlag(Verb verb, const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  std::vector<std::string> spellings;
  for (const FlagSpec& spec : kFlags) {
    if (spec.verbs.find(static_cast<char>(verb)) == std::string_view::npos) continue;
    spellings.push_back(Spelled(spec));
  }
  const std::string nearest = Nearest(name, {spellings.begin(), spellings.end()});
  return UsageError("unknown flag " + name +
                    (nearest.empty() ? "; see --help" : "; did you mean " + nearest + "?"));
}

}  // namespace

namespace {

constexpr std::array<FlagSpec, static_cast<size_t>(Flag::kCount)> MakeTable() {
  std::array<FlagSpec, static_cast<size_t>(Flag::kCount)> table{};
  size_t count = 0;
  std::string_view group;
#define GROUP(title) group = title;
#define FLAG(Id, name, short_name, values, default_value, verbs, status, help)             \
  table[count++] = {Flag::k##Id,           name, short_name, values, default_value, verbs, \
                    FlagStatus::k##status, help, group};
#include "cli/flags/profile_flags.def"
  return table;
}

}  // namespace

constexpr std::array<FlagSpec, static_cast<size_t>(Flag::kCount)> kFlags = MakeTable();

bool IsLiteral(std::string_view alternative) {
  return !HasCapital(alternative) || alternative == "cudaProfilerApi";
}

Result<ParsedFlags> ParsedFlags::Parse(Verb verb, const std::vector<std::string>& words) {
  ParsedFlags flags;
  RETURN_IF_ERROR(flags.ParseWords(verb, words, false));
  if (flags.Given(Flag::kCommandFile)) {
    RETURN_IF_ERROR(flags.ReadCommandFile(verb, flags.Text(Flag::kCommandFile)));
  }
  return flags;
}

Status ParsedFlags::ParseWords(Verb verb, const std::vector<std::string>& words, bool from_file) {
  size_t i = 0;
  for (; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--") {
      ++i;
      break;
    }
    if (word.size() < 2 || word[0] != '-') break;
    if (word == "--help" || word == "-h") {
      help = true;
      return {};
    }
    if (!from_file) RETURN_IF_ERROR(CheckIsNoFile(word));
    const bool is_long = word[1] == '-';
    const size_t equals = is_long ? word.find('=') : std::string::npos;
    const FlagSpec* spec =
        is_long ? FindFlag(verb, word.substr(2, equals - 2), 0) : FindFlag(verb, {}, word[1]);
    if (spec == nullptr) return UnknownFlag(verb, word);
    std::optional<std::string> value;
    if (equals != std::string::npos) value = word.substr(equals + 1);
    if (!is_long && word.size() > 2) value = word.substr(word[2] == '=' ? 3 : 2);
    const bool next_fits = i + 1 < words.size() && Fits(*spec, words[i + 1]);
    if (!value && (next_fits || (!spec->IsBool() && i + 1 < words.size()))) value = words[++i];
    if (!value && !spec->IsBool()) return UsageError(Spelled(*spec) + " needs a value");
    if (from_file && Given(spec->id)) continue;  // the command line wins
    RETURN_IF_ERROR(Take(*spec, value.value_or("true"), Spelled(*spec)));
  }
  if (command.empty()) command.assign(words.begin() + static_cast<ptrdiff_t>(i), words.end());
  return {};
}

Status ParsedFlags::Take(const FlagSpec& spec, const std::string& value,
                         const std::string& spelled) {
  if (!Fits(spec, value)) {
    return UsageError(spelled + ": \"" + value + "\" is none of " + std::string(spec.values));
  }
  values_[Index(spec.id)].push_back(value);
  return {};
}

Status ParsedFlags::ReadCommandFile(Verb verb, const std::string& path) {
  auto text = ReadWholeFile(path);
  if (!text.ok()) return Status(text.status()).WithContext("--command-file");
  return ParseWords(verb, SplitWords(text.value()), true).WithContext("in " + path);
}

std::string ParsedFlags::Text(Flag flag) const {
  const auto& given = values_[Index(flag)];
  return given.empty() ? std::string(kFlags[Index(flag)].default_value) : given.back();
}

double ParsedFlags::Seconds(Flag flag) const {
  const std::string text = Text(flag);
  double seconds = 0;
  std::from_chars(text.data(), text.data() + text.size(), seconds);
  return seconds;
}

std::vector<std::string> ParsedFlags::List(Flag flag) const {
  const auto& given = values_[Index(flag)];
  if (given.empty()) return SplitAtCommas(kFlags[Index(flag)].default_value);
  std::vector<std::string> items;
  for (const std::string& value : given) {
    for (std::string& item : SplitAtCommas(value)) items.push_back(std::move(item));
  }
  return items;
}

std::vector<std::string> ParsedFlags::WithoutEffect() const {
  std::vector<std::string> flags;
  for (const FlagSpec& spec : kFlags) {
    const bool heeded = spec.status == FlagStatus::kWorks || spec.status == FlagStatus::kAlways;
    if (heeded || !Given(spec.id)) continue;
    const std::string value = Text(spec.id);
    // Who turns off what is not there gets what was asked for.
    if (value == spec.default_value || value == "none" || value == "false") continue;
    flags.push_back(Spelled(spec) + "=" + value);
  }
  return flags;
}

std::vector<std::string> SplitAtCommas(std::string_view text) {
  std::vector<std::string> items;
  std::string item;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || text[i] == ',') {
      if (!item.empty()) items.push_back(item);
      item.clear();
    } else {
      if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == ',') ++i;
      item += text[i];
    }
  }
  return items;
}

Status CheckIsNoFile(const std::string& flag) {
  // Each folder on the way has to be there: Windows takes "none/../name" for "name" without a look.
  const auto is_there = [](const std::string& path) {
    std::error_code error;
    return std::filesystem::exists(std::filesystem::symlink_status(path, error));
  };
  if (!is_there(flag.substr(0, flag.find('/'))) || !is_there(flag)) return {};
  return UsageError(flag +
                    " is also the name of a file here, which `*` stands for: write ./* or -- *" +
                    " for files; a flag of this name has to be given in another folder");
}

std::vector<std::string> SplitWords(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool space = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (quote == 0 && !in_word && c == '#') {
      i = std::min(text.find('\n', i), text.size());
    } else if (quote == 0 && space) {
      if (in_word) words.push_back(word);
      word.clear();
      in_word = false;
    } else if (c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
      in_word = true;
    } else {
      const bool escaped = c == '\\' && quote != '\'' && i + 1 < text.size();
      if (escaped && text[i + 1] == '\n') {
        ++i;  // a line that goes on
        continue;
      }
      // "\," stays as it is: whoever splits the list handles it.
      if (escaped && text[i + 1] != ',') ++i;
      word += text[i];
      in_word = true;
    }
  }
  if (in_word) words.push_back(word);
  return words;
}

}  // namespace batchlight::cli
