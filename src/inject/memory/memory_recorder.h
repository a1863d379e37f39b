// Records the blocks of memory that the shims tell of, with the Python code that asked for them.
#pragma once

#include "inject/memory/memory_api.h"

namespace batchlight::inject::memory {

// Once, at attach: reads memory.interval of ControlPage::extra, which the tool always gives. Does
// nothing without --python-memory.
void PrepareMemory();

// nullptr without --python-memory.
const MemoryApi* Api();

// nullptr until the shims are there: the program may not have been started with them.
const MemoryShims* Shims();

// Counts what threads allocate from here on, for those who ask BytesOfThread(). False: it cannot.
bool CountBytes();
ThreadBytes BytesOfThread();

// At thread exit.
void ReleaseMemory();

}  // namespace batchlight::inject::memory
