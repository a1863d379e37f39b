// Patterns of file names: *, ?, [a-z], [!a-z].
#pragma once

#define FNM_PERIOD 4  // a leading period is matched by a period alone

#ifdef __cplusplus
extern "C"
#endif
    // 0 if `name` matches. FNM_PERIOD is always set.
    int
    fnmatch(const char* pattern, const char* name, int flags);
