#include "native/unwinder.h"

#include <algorithm>
#include <optional>

namespace batchlight::native {
namespace {

using Kind = RegisterRule::Kind;

// Addresses beyond hold a signature of the return address (AArch64) or are the kernel's.
constexpr uint64_t kAddressMask = (uint64_t{1} << 48) - 1;

enum class Step { kCaller, kOutermost, kDeep, kLost };

std::optional<uint64_t> FrameAddress(const UnwindRow& row, const Registers& registers,
                                     const StackCopy& stack) {
  switch (row.cfa) {
    case UnwindRow::Cfa::kRegisterPlusOffset:
      if (!registers.known[row.cfa_register]) return std::nullopt;
      return registers.values[row.cfa_register] + static_cast<uint64_t>(row.cfa_offset);
    case UnwindRow::Cfa::kExpression:
      return Evaluate(row.cfa_expression, registers, stack, std::nullopt);
    case UnwindRow::Cfa::kNone:
      break;
  }
  return std::nullopt;
}

std::optional<uint64_t> Restore(const RegisterRule& rule, size_t number, uint64_t cfa,
                                const Registers& registers, const StackCopy& stack) {
  const auto known = [&](size_t other) {
    return other < kRegisters && registers.known[other] ? std::optional(registers.values[other])
                                                        : std::nullopt;
  };
  const uint64_t beside = cfa + static_cast<uint64_t>(int64_t{rule.offset});
  switch (rule.kind) {
    case Kind::kSame:
      return known(number);
    case Kind::kAtOffset:
      return stack.Word(beside);
    case Kind::kIsOffset:
      return beside;
    case Kind::kRegister:
      return known(static_cast<size_t>(rule.offset));
    case Kind::kAtExpression: {
      const auto at = Evaluate(rule.expression, registers, stack, cfa);
      return at ? stack.Word(*at) : std::nullopt;
    }
    case Kind::kIsExpression:
      return Evaluate(rule.expression, registers, stack, cfa);
    case Kind::kUndefined:
      break;
  }
  return std::nullopt;
}

// What a step by this row runs through.
uint64_t ExpressionBytes(const UnwindRow& row) {
  uint64_t bytes = row.cfa_expression.size();
  for (const RegisterRule& rule : row.rules) bytes += rule.expression.size();
  return bytes;
}

// Whether the return address lies in what was not copied.
bool IsDeep(const UnwindRow& row, uint64_t cfa, const StackCopy& stack) {
  const RegisterRule& rule = row.rules[row.return_address];
  return rule.kind == Kind::kAtOffset &&
         stack.IsBeyond(cfa + static_cast<uint64_t>(int64_t{rule.offset}));
}

Step ToCaller(const UnwindRow& row, const StackCopy& stack, Registers& registers) {
  if (row.rules[row.return_address].kind == Kind::kUndefined) return Step::kOutermost;
  const auto cfa = FrameAddress(row, registers, stack);
  if (!cfa) return Step::kLost;
  Registers caller;
  for (size_t number = 0; number < kRegisters; ++number) {
    if (number == kStackPointer && row.rules[number].kind == Kind::kSame) continue;
    const auto value = Restore(row.rules[number], number, *cfa, registers, stack);
    if (value) caller.Set(number, *value);
  }
  if (!caller.known[kStackPointer]) caller.Set(kStackPointer, *cfa);
  if (!caller.known[row.return_address]) {
    return IsDeep(row, *cfa, stack) ? Step::kDeep : Step::kLost;
  }
  caller.pc = caller.values[row.return_address] & kAddressMask;
  if (caller.pc == 0) return Step::kOutermost;
  // No progress: the tables are wrong, or the stack is.
  const bool moved =
      caller.values[kStackPointer] > registers.values[kStackPointer] || caller.pc != registers.pc;
  if (!moved) return Step::kLost;
  registers = caller;
  return Step::kCaller;
}

// Code without tables, of a compiler at run time, may still keep frame pointers.
Step ByFramePointer(const AddressSpace& space, const StackCopy& stack, Registers& registers) {
  if (!registers.known[kFramePointer] || !registers.known[kStackPointer]) return Step::kLost;
  const uint64_t frame = registers.values[kFramePointer];
  if (frame < registers.values[kStackPointer] || frame % 8 != 0) return Step::kLost;
  const auto next_frame = stack.Word(frame);
  const auto pc = stack.Word(frame + 8);
  CodePlace place;
  if (!next_frame || !pc || !space.Find((*pc & kAddressMask) - 1, &place)) return Step::kLost;
  registers = {};
  registers.pc = *pc & kAddressMask;
  registers.Set(kFramePointer, *next_frame);
  registers.Set(kStackPointer, frame + 16);
  return Step::kCaller;
}

}  // namespace

WalkEnd WalkStack(const AddressSpace& space, Registers registers, const StackCopy& stack,
                  size_t max_frames, std::vector<CodePlace>& frames, uint64_t& work_left) {
  bool is_call = false;  // the pc is a return address: the place is the call before it
  for (size_t depth = 0; depth < max_frames; ++depth) {
    CodePlace place;
    const uint64_t pc = registers.pc - (is_call ? 1 : 0);
    if (!space.Find(pc, &place)) {
      if (depth > 0) return WalkEnd::kNoTables;  // no code: what was read is no return address
      place = {nullptr, pc};
    }
    frames.push_back(place);
    if (work_left == 0) return WalkEnd::kNoTables;
    const UnwindRow* row =
        place.module != nullptr ? place.module->RowAt(place.address, work_left) : nullptr;
    if (row != nullptr) work_left -= std::min(work_left, ExpressionBytes(*row));
    const Step step =
        row != nullptr ? ToCaller(*row, stack, registers) : ByFramePointer(space, stack, registers);
    if (step == Step::kOutermost) return WalkEnd::kWhole;
    if (step == Step::kDeep) return WalkEnd::kDeep;
    if (step == Step::kLost) return WalkEnd::kNoTables;
    is_call = row == nullptr || !row->is_signal_frame;
  }
  return WalkEnd::kDeep;
}

}  // namespace batchlight::native
