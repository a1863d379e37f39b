// How to get from a place in the code to its caller: one row of a function's unwind table.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "native/registers.h"

namespace batchlight::native {

// Bytes of a DWARF expression, in the table.
using Expression = std::span<const uint8_t>;

struct RegisterRule {
  enum class Kind : uint8_t {
    kSame,          // the callee did not touch it
    kUndefined,     // lost; of the return address: there is no caller
    kAtOffset,      // saved at CFA + offset
    kIsOffset,      // is CFA + offset
    kRegister,      // is in another register
    kAtExpression,  // saved at the expression's address
    kIsExpression,  // is the expression's value
  };
  Kind kind = Kind::kSame;
  int32_t offset = 0;  // or the number of the other register
  Expression expression = {};
};

struct UnwindRow {
  enum class Cfa : uint8_t { kNone, kRegisterPlusOffset, kExpression };
  Cfa cfa = Cfa::kNone;  // kNone: the tables do not say
  uint8_t cfa_register = 0;
  bool is_signal_frame = false;
  uint8_t return_address = kReturnAddress;
  int64_t cfa_offset = 0;
  Expression cfa_expression = {};
  std::array<RegisterRule, kRegisters> rules{};
};

}  // namespace batchlight::native
