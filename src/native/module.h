// A file whose code ran, with what was found out of it: rows of its unwind tables, names of its
// functions.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "native/elf_file.h"

namespace batchlight::native {

class Module {
 public:
  // Opens the file; one that cannot be read is a module without tables and names. `kept_rows` is
  // shared by the modules that together keep no more rows than is good for memory.
  Module(std::string path, size_t& kept_rows);

  const std::string& path() const { return path_; }
  const std::string& build_id() const;
  const ElfFile* file() const { return file_.get(); }

  // The row for an address of the file, kept for the next time. Null: its tables say nothing of it.
  // Valid until the next call. Takes the bytes that had to be read for it from `work_left`.
  const UnwindRow* RowAt(uint64_t address, uint64_t& work_left);

 private:
  std::string path_;
  std::unique_ptr<ElfFile> file_;
  size_t& kept_rows_;
  std::vector<UnwindRow> rows_;
  std::unordered_map<uint64_t, uint32_t> row_of_;  // by address; kNoRow: nothing is known
};

// Names of a file's functions: its own symbols, or those of its separate debug file.
class FunctionNames {
 public:
  // Both files must stay; the second may be null. `symbols_left`: as of ElfFile::Functions.
  FunctionNames(const ElfFile& file, const ElfFile* debug_file, uint64_t& symbols_left);
  // Null: in no function that is known.
  const Function* Find(uint64_t address) const;

 private:
  std::vector<Function> functions_;
};

// The image of the kernel's vDSO in this process, which is every process's. Empty without one.
std::span<const uint8_t> VdsoImage();
inline constexpr std::string_view kVdso = "[vdso]";

}  // namespace batchlight::native
