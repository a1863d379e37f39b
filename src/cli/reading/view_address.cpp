#include "cli/reading/view_address.h"

#include <cmath>
#include <cstdlib>
#include <string_view>

namespace batchlight::cli {
namespace {

std::string PercentEncoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') ||
                       (byte >= 'a' && byte <= 'z') || c == '-' || c == '.' || c == '_' || c == '~';
    if (plain) {
      out += c;
      continue;
    }
    out += '%';
    out += "0123456789ABCDEF"[byte >> 4];
    out += "0123456789ABCDEF"[byte & 15];
  }
  return out;
}

struct MomentUnit {
  std::string_view name;
  double ns;
};
constexpr MomentUnit kUnits[] = {{"", 1},    {"ns", 1},   {"us", 1e3},  {"ms", 1e6},
                                 {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}};

}  // namespace

Result<int64_t> ParseMoment(const std::string& text) {
  const Status wrong = UsageError("\"" + text + "\" is no time, such as 1.234s, 250ms or 1500us");
  // strtod would also take hexadecimal, infinity and what is no number.
  const size_t digits = text.find_first_not_of("0123456789.");
  const std::string_view unit =
      digits == text.npos ? std::string_view() : std::string_view(text).substr(digits);
  if (text.empty() || digits == 0) return wrong;
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (end != text.c_str() + (digits == text.npos ? text.size() : digits)) return wrong;
  for (const MomentUnit& known : kUnits) {
    if (known.name != unit) continue;
    const double ns = number * known.ns;
    if (ns > 9e15) return wrong;
    return std::llround(ns);
  }
  return wrong;
}

Result<std::string> PlaceOf(const ViewTarget& target) {
  const int given = !target.step.empty() + !target.at.empty() + !target.find.empty();
  if (given > 1) return UsageError("--step, --at and --find: one of them says what to show");
  if (!target.step.empty()) {
    if (target.step.find_first_not_of("0123456789") != std::string::npos) {
      return UsageError("--step: \"" + target.step + "\" is no number of a step");
    }
    return "step=" + target.step;
  }
  if (!target.at.empty()) {
    if (target.at.find_first_not_of("0123456789.") == std::string::npos &&
        target.at.find('.') != std::string::npos) {
      return UsageError("--at: \"" + target.at + "\" has no unit: " + target.at + "s, " +
                        target.at + "ms");
    }
    auto at_ns = ParseMoment(target.at);
    if (!at_ns.ok()) return Status(at_ns.status()).WithContext("--at");
    return "at=" + std::to_string(at_ns.value());
  }
  return target.find.empty() ? std::string() : "find=" + PercentEncoded(target.find);
}

Result<std::string> FragmentOf(const std::string& token, const ViewTarget& target) {
  ASSIGN_OR_RETURN(const std::string place, PlaceOf(target));
  return "token=" + token + (place.empty() ? "" : "&") + place;
}

}  // namespace batchlight::cli
