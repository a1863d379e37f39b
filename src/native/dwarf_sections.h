// The sections with DWARF debug information of an ELF file, unpacked where they are packed, and how
// much of them may be read.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "native/elf_file.h"

namespace batchlight::native {

// For all files of a program together, by whichever threads read them.
struct DwarfBudget {
  // Bytes of entries, ranges and texts that are gone through: some seconds on one processor.
  std::atomic<int64_t> work_left = int64_t{2} << 30;
  // Inlined calls that are told of.
  std::atomic<int64_t> calls_left = int64_t{8} << 20;
  // Bytes of sections that are held unpacked at one time.
  std::atomic<int64_t> memory_left = int64_t{1} << 30;
  // Bytes of separate debug files whose checksum is added up: a second or two. Below 0: one was
  // not.
  std::atomic<int64_t> sums_left = int64_t{2} << 30;
};

// One thread's share of the work, taken in large pieces.
class DwarfWork {
 public:
  explicit DwarfWork(DwarfBudget& budget) : budget_(budget) {}
  ~DwarfWork() { budget_.work_left += left_; }
  DwarfWork(const DwarfWork&) = delete;
  DwarfWork& operator=(const DwarfWork&) = delete;

  // False: all was done that may be done.
  bool Take(uint64_t bytes) {
    if (is_used_up_ || (bytes > static_cast<uint64_t>(left_) && !TakeMore(bytes))) return false;
    left_ -= static_cast<int64_t>(bytes);
    return true;
  }
  // The same of calls. There is no more work either, then.
  bool TakeCalls(size_t count);
  bool is_used_up() const { return is_used_up_; }

 private:
  bool TakeMore(uint64_t bytes);

  DwarfBudget& budget_;
  int64_t left_ = 0;
  bool is_used_up_ = false;
};

class DwarfSections {
 public:
  // Null: the file has none. What cannot be unpacked is empty.
  static std::unique_ptr<DwarfSections> Of(const ElfFile& file, DwarfBudget& budget,
                                           DwarfWork& work);
  ~DwarfSections();
  DwarfSections(const DwarfSections&) = delete;
  DwarfSections& operator=(const DwarfSections&) = delete;

  std::span<const uint8_t> info, abbreviations, ranges, range_lists;
  std::span<const uint8_t> texts, line_texts, text_offsets, addresses;
  // More than the budget has would have to be unpacked: they are not all here.
  bool is_cut = false;

 private:
  explicit DwarfSections(DwarfBudget& budget) : budget_(budget) {}
  std::span<const uint8_t> Unpacked(std::span<const uint8_t> packed, DwarfWork& work);

  DwarfBudget& budget_;
  std::vector<std::vector<uint8_t>> unpacked_;
  int64_t held_ = 0;
};

}  // namespace batchlight::native
