#include "cli/flags/flag_number.h"

#include <charconv>

namespace batchlight::cli {
namespace {

std::string NameOf(Flag flag) { return "--" + std::string(kFlags[static_cast<size_t>(flag)].name); }

}  // namespace

Result<uint64_t> ReadNumber(std::string_view name, std::string_view text, uint64_t least,
                            uint64_t most) {
  uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  if (result.ec == std::errc() && result.ptr == end && number >= least && number <= most) {
    return number;
  }
  return UsageError(std::string(name) + ": " + std::string(text) + " is no number from " +
                    std::to_string(least) + " to " + std::to_string(most));
}

Result<uint64_t> NumberOf(const ParsedFlags& flags, Flag flag, uint64_t least, uint64_t most) {
  return ReadNumber(NameOf(flag), flags.Text(flag), least, most);
}

std::string Spelled(const ParsedFlags& flags, Flag flag) {
  return NameOf(flag) + "=" + flags.Text(flag);
}

}  // namespace batchlight::cli
