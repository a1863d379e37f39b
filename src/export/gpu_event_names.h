// Names of GPU work that has none of its own, as torch.profiler prints them. Kinds are nsys's
// numbers, as in the store.
#pragma once

#include <cstdint>
#include <string>

namespace batchlight {

std::string MemcpyName(uint8_t copy_kind, uint8_t source_kind, uint8_t destination_kind);
std::string MemsetName(uint8_t memory_kind);  // "Memset (Device)"
std::string SyncName(uint8_t sync_type);      // "Stream Sync"

}  // namespace batchlight
