// The unwind tables of one ELF file (.eh_frame with its .eh_frame_hdr), read in place.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "native/unwind_row.h"

namespace batchlight::native {

// A part of a file with the address that its first byte has there.
struct Stretch {
  std::span<const uint8_t> bytes;
  uint64_t address = 0;

  // From `at` on; empty if that is elsewhere.
  Stretch From(uint64_t at) const {
    if (at < address || at - address >= bytes.size()) return {};
    return {bytes.subspan(at - address), at};
  }
};

// Where the bytes of a file are found by their address: of a mapped file, or of one that is loaded.
struct ImageBytes {
  const void* image = nullptr;
  Stretch (*from)(const void* image, uint64_t address) = nullptr;

  Stretch From(uint64_t address) const { return from(image, address); }
};

// Allocates nothing: it also runs in the program that is recorded.
class UnwindTables {
 public:
  UnwindTables() = default;
  // `header`: .eh_frame_hdr.
  UnwindTables(Stretch header, const ImageBytes& image);

  bool empty() const { return count_ == 0; }
  // The row of the instruction at `address`. Nothing: no function of the tables is there, or what
  // they say cannot be understood. `read_bytes`: how many bytes of them were read to find out.
  std::optional<UnwindRow> RowAt(uint64_t address, uint64_t* read_bytes = nullptr) const;
  // Where the function at `address` begins, and the next one (behind the last, the next byte),
  // which files without symbols know too. A part of a function that the compiler moved away (.cold)
  // is one of its own.
  struct Extent {
    uint64_t begin = 0, end = 0;
  };
  std::optional<Extent> ExtentAt(uint64_t address) const;

 private:
  struct Entry {
    uint64_t begin;
    uint64_t description;  // address of the FDE
  };
  Entry EntryAt(size_t index) const;
  // How many entries begin at `address` or before it.
  size_t CountUntil(uint64_t address) const;

  Stretch header_;
  ImageBytes image_;
  Stretch search_table_;
  uint64_t count_ = 0;
};

}  // namespace batchlight::native
