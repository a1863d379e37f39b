// What `nvdisasm -c` prints of a cubin, by function and offset.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace batchlight::capture {

using Disassembly = std::map<std::string, std::map<uint64_t, std::string>, std::less<>>;

Disassembly ParseDisassembly(std::string_view text);

// "": it is not known.
std::string_view InstructionAt(const Disassembly& disassembly, std::string_view function,
                               uint64_t offset);

}  // namespace batchlight::capture
