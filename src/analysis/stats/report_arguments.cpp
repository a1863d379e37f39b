#include "analysis/stats/report_arguments.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

#include "base/nearest.h"
#include "base/split.h"

namespace batchlight::stats {
namespace {

// One argument of a usage text. Alternatives ("[:base|:mangled]") share a group.
struct Known {
  std::string_view key;
  std::string_view placeholder;  // "limit" of "rows=<limit>", "" of an argument without a value
  size_t group;
};

// What stands for the value says what it may be; other words stand for text.
struct NumberKind {
  std::string_view placeholder;
  bool whole;
  double least;
  double most;
  std::string_view words;
};
constexpr double kAny = 9.2e18;
constexpr NumberKind kNumberKinds[] = {
    {"limit", true, -kAny, kAny, "a whole number, -1 for all"},
    {"ns", true, -kAny, kAny, "a whole number of ns"},
    {"pid", true, 0, kAny, "the number of a process"},
    {"tid", true, 0, kAny, "the number of a thread"},
    {"ms", false, 0, kAny, "a number of ms"},
    {"percent", false, 0, 1e6, "a number of percent"},
    {"ticks_per_ms", false, 0, kAny, "a number of ticks"},
    {"bins", true, 1, 100'000, "a number from 1 to 100000"},
    {"chunks", true, 1, 1000, "a number from 1 to 1000"},
};

std::vector<Known> ParseUsage(std::string_view usage) {
  std::vector<Known> known;
  size_t group = 0;
  for (std::string_view part : SplitAt(usage, '[')) {
    if (part.empty() || part.front() != ':') continue;  // in front; "@domain" inside of a value
    part = part.substr(0, part.find(']'));
    for (std::string_view one : SplitAt(part, '|')) {
      one.remove_prefix(1);
      const size_t equals = one.find("=<");
      std::string_view placeholder;
      if (equals != one.npos) {
        placeholder = one.substr(equals + 2);
        placeholder = placeholder.substr(0, placeholder.find('>'));
      }
      known.push_back({one.substr(0, equals), placeholder, group});
    }
    ++group;
  }
  return known;
}

template <typename Number>
std::optional<Number> ReadWhole(std::string_view text) {
  Number number{};
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

bool IsValue(const NumberKind& kind, std::string_view text) {
  const auto real = ReadWhole<double>(text);
  if (kind.whole && !ReadWhole<int64_t>(text)) return false;
  return real && std::isfinite(*real) && *real >= kind.least && *real <= kind.most;
}

Status CheckOne(const Known& known, std::string_view arg) {
  const size_t equals = arg.find('=');
  const std::string key(known.key);
  if (known.placeholder.empty()) {
    return equals == arg.npos ? Status() : UsageError(key + " takes no value");
  }
  const std::string_view value = equals == arg.npos ? "" : arg.substr(equals + 1);
  for (const NumberKind& kind : kNumberKinds) {
    if (kind.placeholder != known.placeholder) continue;
    if (IsValue(kind, value)) return Status();
    return UsageError(key + "= takes " + std::string(kind.words) + ", not \"" + std::string(value) +
                      "\"");
  }
  return value.empty() ? UsageError(key + "= needs a name behind it") : Status();
}

Status Unknown(std::string_view arg, std::string_view usage, const std::vector<Known>& known) {
  if (known.empty())
    return UsageError("has no argument \"" + std::string(arg) + "\": it takes none");
  std::vector<std::string_view> keys;
  for (const Known& one : known) keys.push_back(one.key);
  return UsageError("has no argument \"" + std::string(arg) + "\"" +
                    DidYouMean(NearestFew(arg.substr(0, arg.find('=')), keys)) + " (it takes " +
                    std::string(usage) + ")");
}

}  // namespace

Status CheckArguments(std::string_view whose, std::string_view usage,
                      std::span<const std::string> args) {
  const std::vector<Known> known = ParseUsage(usage);
  std::vector<const Known*> given;
  for (const std::string_view arg : args) {
    const std::string_view key = arg.substr(0, arg.find('='));
    const auto found =
        std::find_if(known.begin(), known.end(), [&](const Known& one) { return one.key == key; });
    if (found == known.end()) return Unknown(arg, usage, known).WithContext(whose);
    RETURN_IF_ERROR(CheckOne(*found, arg).WithContext(whose));
    for (const Known* other : given) {
      if (other->group != found->group || other->key == found->key) continue;
      return UsageError(std::string(whose) + ": " + std::string(other->key) + " and " +
                        std::string(found->key) + " exclude each other");
    }
    given.push_back(&*found);
  }
  return Status();
}

std::optional<std::string_view> ArgumentValue(std::span<const std::string> args,
                                              std::string_view key) {
  std::optional<std::string_view> value;
  for (const std::string_view arg : args) {
    if (arg.starts_with(key) && arg.size() > key.size() && arg[key.size()] == '=') {
      value = arg.substr(key.size() + 1);
    }
  }
  return value;
}

int64_t ArgumentInteger(std::span<const std::string> args, std::string_view key,
                        int64_t otherwise) {
  const auto text = ArgumentValue(args, key);
  return text ? ReadWhole<int64_t>(*text).value_or(otherwise) : otherwise;
}

double ArgumentReal(std::span<const std::string> args, std::string_view key, double otherwise) {
  const auto text = ArgumentValue(args, key);
  return text ? ReadWhole<double>(*text).value_or(otherwise) : otherwise;
}

}  // namespace batchlight::stats
