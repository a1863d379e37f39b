// The functions that windows/posix declares.
#include <fnmatch.h>
#include <string.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <iterator>

namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
int Byte(char c) { return static_cast<unsigned char>(c); }

// Where a set that begins at `set`, behind its '[', ends; null: it does not, and is a character.
const char* EndOfSet(const char* set) {
  if (*set == '!' || *set == '^') ++set;
  if (*set == ']') ++set;
  while (*set != '\0' && *set != ']') ++set;
  return *set == ']' ? set : nullptr;
}

bool SetHas(const char* set, const char* end, char c) {
  const bool without = *set == '!' || *set == '^';
  bool found = false;
  for (const char* at = set + without; at < end; ++at) {
    const bool is_range = at + 2 < end && at[1] == '-';
    found = found || (Byte(c) >= Byte(*at) && Byte(c) <= Byte(is_range ? at[2] : *at));
    if (is_range) at += 2;
  }
  return found != without;
}

bool Matches(const char* pattern, const char* name) {
  for (; *pattern != '\0'; ++pattern) {
    if (*pattern == '*') {
      for (; *name != '\0'; ++name) {
        if (Matches(pattern + 1, name)) return true;
      }
      continue;
    }
    if (*name == '\0') return false;
    if (const char* end = *pattern == '[' ? EndOfSet(pattern + 1) : nullptr; end != nullptr) {
      if (!SetHas(pattern + 1, end, *name)) return false;
      pattern = end;
    } else if (*pattern != '?' && *pattern != *name) {
      return false;
    }
    ++name;
  }
  return *name == '\0';
}

}  // namespace

int fnmatch(const char* pattern, const char* name, int) {
  return (*name == '.' && *pattern != '.') || !Matches(pattern, name);
}

// As glibc has it: where the difference lies in numbers, those with leading zeros are fractions.
int strverscmp(const char* a, const char* b) {
  size_t at = 0;
  while (a[at] == b[at] && a[at] != '\0') ++at;
  if (a[at] == b[at]) return 0;
  size_t begin = at;
  while (begin > 0 && IsDigit(a[begin - 1])) --begin;
  const bool has_number = begin < at || (IsDigit(a[at]) && IsDigit(b[at]));
  const bool is_fraction = begin < at ? a[begin] == '0' : a[at] == '0' || b[at] == '0';
  if (has_number && !is_fraction) {
    const auto end = [&](const char* text) {
      size_t digits = at;
      while (IsDigit(text[digits])) ++digits;
      return digits;
    };
    if (end(a) != end(b)) return end(a) < end(b) ? -1 : 1;
  }
  return Byte(a[at]) - Byte(b[at]);
}

const char* sigabbrev_np(int signal_number) {
  static const char* const kNames[] = {
      nullptr, "HUP",  "INT",  "QUIT", "ILL",    "TRAP",   "ABRT",  "BUS",  "FPE",  "KILL", "USR1",
      "SEGV",  "USR2", "PIPE", "ALRM", "TERM",   "STKFLT", "CHLD",  "CONT", "STOP", "TSTP", "TTIN",
      "TTOU",  "URG",  "XCPU", "XFSZ", "VTALRM", "PROF",   "WINCH", "POLL", "PWR",  "SYS"};
  const bool is_known = signal_number > 0 && signal_number < static_cast<int>(std::size(kNames));
  return is_known ? kNames[signal_number] : nullptr;
}
