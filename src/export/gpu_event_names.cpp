#include "export/gpu_event_names.h"

#include <string_view>

namespace batchlight {
namespace {

constexpr std::string_view kCopies[] = {"Unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD",
                                        "DtoA",    "DtoD", "HtoH", "PtoP", "HtoD", "DtoH", "DtoD"};
constexpr std::string_view kMemories[] = {"Pageable", "Pinned",        "Device",         "Array",
                                          "Managed",  "Device Static", "Managed Static", "Unknown"};
constexpr std::string_view kSyncs[] = {"Unknown Sync", "Event Sync", "Stream Wait Event",
                                       "Stream Sync", "Context Sync"};

template <size_t kCount>
std::string Word(const std::string_view (&words)[kCount], uint8_t index, size_t otherwise) {
  return std::string(words[index < kCount ? index : otherwise]);
}

}  // namespace

std::string MemcpyName(uint8_t copy_kind, uint8_t source_kind, uint8_t destination_kind) {
  return "Memcpy " + Word(kCopies, copy_kind, 0) + " (" + Word(kMemories, source_kind, 7) + " -> " +
         Word(kMemories, destination_kind, 7) + ")";
}

std::string MemsetName(uint8_t memory_kind) {
  return "Memset (" + Word(kMemories, memory_kind, 7) + ")";
}

std::string SyncName(uint8_t sync_type) { return Word(kSyncs, sync_type, 0); }

}  // namespace batchlight
