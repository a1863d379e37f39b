#include "analysis/cuda/gpu_event_names.h"

namespace batchlight {

std::string MemcpyName(CopyKind copy_kind, MemoryKind source_kind, MemoryKind destination_kind) {
  return "Memcpy " + std::string(ShortName(copy_kind)) + " (" +
         std::string(ShortName(source_kind)) + " -> " + std::string(ShortName(destination_kind)) +
         ")";
}

std::string MemsetName(MemoryKind memory_kind) {
  return "Memset (" + std::string(ShortName(memory_kind)) + ")";
}

}  // namespace batchlight
