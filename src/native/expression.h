// DWARF expressions, as far as unwind tables use them.
#pragma once

#include <cstdint>
#include <optional>

#include "native/unwind_row.h"

namespace batchlight::native {

// The thread's memory, as far as it was copied.
class StackCopy {
 public:
  StackCopy(std::span<const uint8_t> bytes, uint64_t address) : bytes_(bytes), address_(address) {}

  std::optional<uint64_t> Word(uint64_t at) const;
  bool IsBeyond(uint64_t at) const { return at >= address_ && at - address_ + 8 > bytes_.size(); }

 private:
  std::span<const uint8_t> bytes_;
  uint64_t address_;
};

// Nothing: an operation that is not known, a register or memory that is not.
std::optional<uint64_t> Evaluate(Expression expression, const Registers& registers,
                                 const StackCopy& stack, std::optional<uint64_t> cfa);

}  // namespace batchlight::native
