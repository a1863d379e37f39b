// windows/posix/regex.h by the standard library's expressions.
#include <regex.h>

#include <cstdio>
#include <iterator>
#include <regex>
#include <string>

namespace {

constexpr int kInvalid = 1;

// A basic expression as an extended one: ( ) { } | + ? mean something with a backslash there, and
// without one here. Between brackets nothing changes.
std::string Extended(const char* pattern) {
  const std::string special = "(){}|+?";
  std::string text;
  for (const char* at = pattern; *at != '\0'; ++at) {
    if (*at == '\\' && at[1] != '\0') {
      ++at;
      if (special.find(*at) == std::string::npos) text += '\\';
      text += *at;
    } else if (*at == '[') {
      const char* end = at + 1;
      if (*end == '^') ++end;
      if (*end == ']') ++end;
      while (*end != '\0' && *end != ']') ++end;
      text.append(at, end);
      if (*end == '\0') return text;
      text += *end;
      at = end;
    } else {
      const bool is_first = text.empty() || text.ends_with('(') || text.ends_with('|');
      if (special.find(*at) != std::string::npos || (*at == '*' && is_first)) text += '\\';
      text += *at;
    }
  }
  return text;
}

}  // namespace

int regcomp(regex_t* regex, const char* pattern, int flags) {
  auto syntax = std::regex::extended | std::regex::nosubs;
  if ((flags & REG_ICASE) != 0) syntax |= std::regex::icase;
  const bool is_basic = (flags & REG_EXTENDED) == 0;
  regex->compiled = nullptr;
  try {
    regex->compiled = new std::regex(is_basic ? Extended(pattern) : pattern, syntax);
    return 0;
  } catch (const std::regex_error&) {
    return kInvalid;
  }
}

int regexec(const regex_t* regex, const char* text, size_t, regmatch_t*, int) {
  try {
    return std::regex_search(text, *static_cast<const std::regex*>(regex->compiled)) ? 0 : kInvalid;
  } catch (const std::regex_error&) {  // too complex for this text
    return kInvalid;
  }
}

size_t regerror(int, const regex_t*, char* text, size_t size) {
  return static_cast<size_t>(std::snprintf(text, size, "Invalid regular expression"));
}

void regfree(regex_t* regex) { delete static_cast<std::regex*>(regex->compiled); }
