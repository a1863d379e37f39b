// Names of the kinds of copies and of memory, by the numbers of nsys's ENUM_CUDA_MEMCPY_OPER and
// ENUM_CUDA_MEM_KIND.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace batchlight {

std::string_view CopyKindLabel(uint8_t copy_kind);      // "Host-to-Device"
bool IsUnifiedCopy(uint8_t copy_kind);                  // made by the driver: in no stream
std::string_view MemoryKindLabel(uint8_t memory_kind);  // "Pageable", "Device Static"
std::string MemoryKindName(uint8_t memory_kind);        // within a sentence: "pageable"

}  // namespace batchlight
