// The separate file with a file's symbols and debug information.
#pragma once

#include <memory>
#include <string>

#include "native/dwarf_sections.h"
#include "native/elf_file.h"

namespace batchlight::native {

// By its build id under `root`, or by the name in .gnu_debuglink, beside `path` or under `root`.
// One that is of another build is none. Null: there is none, or the budget has nothing left to
// tell.
std::unique_ptr<ElfFile> FindDebugFile(const ElfFile& file, const std::string& path,
                                       DwarfBudget& budget,
                                       const std::string& root = "/usr/lib/debug");

}  // namespace batchlight::native
