// Which functions were inlined at places of a file's code, by its debug information.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "native/dwarf_sections.h"
#include "native/elf_file.h"

namespace batchlight::native {

struct InlinedFunctions {
  std::vector<std::string> names;  // demangled
  // By place: the function that was inlined into the one that the code is of, what was inlined into
  // that, and so on; numbers of names.
  std::vector<std::vector<uint32_t>> calls;
  // Places for which debug information is there and was too much to be read.
  size_t left_out = 0;
};

// Deeper calls are left out.
inline constexpr size_t kMostInlinedCalls = 64;

// `places`: addresses as the file counts, in order. `debug_file`: the file's separate one, if it
// has any. Where neither has debug information nothing is inlined.
InlinedFunctions FindInlinedFunctions(const ElfFile& file, const ElfFile* debug_file,
                                      std::span<const uint64_t> places, DwarfBudget& budget);

}  // namespace batchlight::native
