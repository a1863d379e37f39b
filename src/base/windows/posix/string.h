#pragma once

#include_next <string.h>

#ifdef __cplusplus
extern "C" {
#endif
// Orders "node2" before "node10".
int strverscmp(const char* a, const char* b);
// "KILL" for 9, by Linux's numbers, whose signals recordings hold; null for none.
const char* sigabbrev_np(int signal_number);
#ifdef __cplusplus
}
#endif
