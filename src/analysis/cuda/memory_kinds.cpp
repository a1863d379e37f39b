#include "analysis/cuda/memory_kinds.h"

#include <cctype>
#include <iterator>

namespace batchlight {
namespace {

constexpr std::string_view kCopyKinds[] = {"Unknown",
                                           "Host-to-Device",
                                           "Device-to-Host",
                                           "Host-to-Array",
                                           "Array-to-Host",
                                           "Array-to-Array",
                                           "Array-to-Device",
                                           "Device-to-Array",
                                           "Device-to-Device",
                                           "Host-to-Host",
                                           "Peer-to-Peer",
                                           "Unified Host-to-Device",
                                           "Unified Device-to-Host",
                                           "Unified Device-to-Device"};

constexpr std::string_view kMemoryKinds[] = {"Pageable",       "Pinned",  "Device",
                                             "Array",          "Managed", "Device Static",
                                             "Managed Static", "Unknown"};

}  // namespace

std::string_view CopyKindLabel(uint8_t copy_kind) {
  return copy_kind < std::size(kCopyKinds) ? kCopyKinds[copy_kind] : kCopyKinds[0];
}

bool IsUnifiedCopy(uint8_t copy_kind) { return CopyKindLabel(copy_kind).starts_with("Unified"); }

std::string_view MemoryKindLabel(uint8_t memory_kind) {
  return memory_kind < std::size(kMemoryKinds) ? kMemoryKinds[memory_kind] : "Unknown";
}

std::string MemoryKindName(uint8_t memory_kind) {
  std::string name(MemoryKindLabel(memory_kind));
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name;
}

}  // namespace batchlight
