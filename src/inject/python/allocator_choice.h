// PYTHONMALLOC=malloc, which the tool sets for --python-memory=exact unless the user has chosen.
#pragma once

#include "inject/rt/guard.h"

namespace batchlight::inject {

// Free-threaded CPython has one allocator for its objects and does not start where it is told to
// take malloc: there the variable is taken back. Once, at attach, before the program runs.
void TakeBackAllocatorChoice(const Guard& guard);

}  // namespace batchlight::inject
