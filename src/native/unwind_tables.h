// The unwind tables of one ELF file (.eh_frame with its .eh_frame_hdr), read in place.
#pragma once

#include <cstdint>
#include <functional>
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

class UnwindTables {
 public:
  UnwindTables() = default;
  // `header`: .eh_frame_hdr. `at(address)`: the file's bytes from there on.
  UnwindTables(Stretch header, std::function<Stretch(uint64_t)> at);

  bool empty() const { return count_ == 0; }
  // The row of the instruction at `address`. Nothing: no function of the tables is there, or what
  // they say cannot be understood.
  std::optional<UnwindRow> RowAt(uint64_t address) const;

 private:
  struct Entry {
    uint64_t begin;
    uint64_t description;  // address of the FDE
  };
  Entry EntryAt(size_t index) const;

  Stretch header_;
  std::function<Stretch(uint64_t)> at_;
  Stretch search_table_;
  uint64_t count_ = 0;
};

}  // namespace batchlight::native
