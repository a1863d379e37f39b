// Names of GPU work that has none of its own, as torch.profiler prints them.
#pragma once

#include <string>

#include "store/kinds.h"

namespace batchlight {

// "Memcpy HtoD (Pageable -> Device)"
std::string MemcpyName(CopyKind copy_kind, MemoryKind source_kind, MemoryKind destination_kind);
std::string MemsetName(MemoryKind memory_kind);  // "Memset (Device)"

}  // namespace batchlight
