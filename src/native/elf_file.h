// One ELF file of 64 bits, mapped: its segments, build id, unwind tables and functions. Files may
// be anything, and may be cut short while they are read.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "native/unwind_tables.h"

namespace batchlight::native {

struct Function {
  uint64_t begin = 0;
  uint64_t end = 0;
  std::string_view name;  // mangled, in the file
  bool is_global = false;
};

// For the files of a program together, which may name one file again and again. The largest
// libraries have a million symbols, all of a job three million.
inline constexpr uint64_t kMostSymbols = 16'000'000;

class ElfFile {
 public:
  // Null: no such file, or no ELF file of this machine's kind.
  static std::unique_ptr<ElfFile> Open(const std::string& path);
  // Of an image in memory, which must stay: the kernel's vDSO.
  static std::unique_ptr<ElfFile> Of(std::span<const uint8_t> image);

  ElfFile(const ElfFile&) = delete;
  ElfFile& operator=(const ElfFile&) = delete;

  const std::string& build_id() const { return build_id_; }
  const UnwindTables& tables() const { return tables_; }
  // The address, as the file counts, of the byte at `offset` of the file. UINT64_MAX: of none.
  uint64_t AddressOf(uint64_t offset) const;
  // The functions of the symbol tables, by address, none inside another; without them, none. Reads
  // no more than so many symbols, and takes those that it read from them.
  std::vector<Function> Functions(uint64_t& symbols_left) const;
  size_t segment_count() const { return segments_.size(); }
  struct Section {
    std::string_view name;
    uint32_t type = 0;
    uint32_t link = 0;
    bool is_packed = false;
    std::span<const uint8_t> bytes;  // in the file: none of those that only memory has
  };
  std::vector<Section> Sections() const;
  // The bytes from an address on that the file has.
  Stretch At(uint64_t address) const;
  std::span<const uint8_t> bytes() const { return bytes_; }

 private:
  struct Segment {
    uint64_t address;
    uint64_t offset;
    uint64_t bytes;  // in the file
    bool is_code;
  };

  ElfFile() = default;
  bool Read();
  void ReadNotes(std::span<const uint8_t> notes);
  std::span<const uint8_t> Part(uint64_t offset, uint64_t bytes) const;
  template <typename T>
  bool ReadAt(uint64_t offset, T* value) const;

  std::optional<MappedFile> file_;
  std::span<const uint8_t> bytes_;
  std::vector<Segment> segments_;
  std::string build_id_;
  UnwindTables tables_;
};

}  // namespace batchlight::native
