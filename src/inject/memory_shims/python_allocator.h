// Python's allocators of objects, between Python and what they were before.
#pragma once

#include "inject/memory/memory_api.h"

namespace batchlight::inject::memory {

// MemoryShims::watch_python.
void WatchPython(GetPythonAllocator* get, SetPythonAllocator* set);

}  // namespace batchlight::inject::memory
