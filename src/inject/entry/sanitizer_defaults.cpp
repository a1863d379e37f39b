// gcc's AddressSanitizer ends a program at its start if a library comes before its own. Ours may:
// it takes the place of nothing that the sanitizer watches. The tool says so in ASAN_OPTIONS, which
// a program may set anew for what it starts; this function says it there too. A program's own comes
// first.
#include "inject/entry/export.h"

BATCHLIGHT_EXPORT const char* __asan_default_options() { return "verify_asan_link_order=0"; }
