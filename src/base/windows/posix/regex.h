// POSIX regular expressions, basic (with \|, \+ and \?, as glibc has) and extended, for a search
// that asks only whether there is a match.
#pragma once

#include <stddef.h>

#define REG_EXTENDED 1
#define REG_ICASE 2
#define REG_NOSUB 8  // always

struct regex_t {
  void* compiled;
};
struct regmatch_t;

// 0, or an error for regerror().
int regcomp(regex_t* regex, const char* pattern, int flags);
int regexec(const regex_t* regex, const char* text, size_t, regmatch_t*, int);
size_t regerror(int error, const regex_t* regex, char* text, size_t size);
void regfree(regex_t* regex);
