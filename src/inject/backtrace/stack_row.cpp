#include "inject/backtrace/stack_row.h"

#include "native/byte_reader.h"

namespace batchlight::inject::backtrace {
namespace {

using native::RegisterRule;
using native::UnwindRow;

constexpr int64_t kWordBytes = 8;

bool FitsWords(int64_t bytes, int bits) {
  const int64_t most = (int64_t{1} << (bits - 1)) - 1;
  return bytes % kWordBytes == 0 && bytes / kWordBytes >= -most && bytes / kWordBytes <= most;
}

// "frame pointer + offset" (DW_OP_breg), and "the word there" if `deref`.
bool IsBesideFramePointer(native::Expression expression, bool deref, int64_t* offset) {
  constexpr uint8_t kRegisterPlusOffset = 0x70 + native::kFramePointer;
  constexpr uint8_t kDeref = 0x06;
  native::ByteReader in(expression, 0);
  if (in.Read<uint8_t>() != kRegisterPlusOffset) return false;
  *offset = in.Sleb();
  if (deref && in.Read<uint8_t>() != kDeref) return false;
  return in.ok() && in.at_end();
}

bool ShortenFrame(const UnwindRow& row, StackRow& to) {
  int64_t offset = row.cfa_offset;
  if (row.cfa == UnwindRow::Cfa::kExpression) {
    if (!IsBesideFramePointer(row.cfa_expression, true, &offset)) return false;
    to.kind = StackRow::kAtFramePointer;
  } else if (row.cfa == UnwindRow::Cfa::kRegisterPlusOffset &&
             row.cfa_register == native::kStackPointer) {
    to.kind = StackRow::kByStackPointer;
  } else if (row.cfa == UnwindRow::Cfa::kRegisterPlusOffset &&
             row.cfa_register == native::kFramePointer) {
    to.kind = StackRow::kByFramePointer;
  } else {
    return false;
  }
  to.frame = static_cast<uint64_t>(offset / kWordBytes) & 0xfffff;
  return FitsWords(offset, 20);
}

bool ShortenFramePointer(const RegisterRule& rule, StackRow& to) {
  int64_t offset = rule.offset;
  if (rule.kind == RegisterRule::Kind::kSame || rule.kind == RegisterRule::Kind::kUndefined) {
    return true;
  }
  if (rule.kind == RegisterRule::Kind::kAtOffset) {
    to.frame_pointer = StackRow::kSavedBesideFrame;
  } else if (rule.kind == RegisterRule::Kind::kAtExpression &&
             IsBesideFramePointer(rule.expression, false, &offset)) {
    to.frame_pointer = StackRow::kSavedBesideFramePointer;
  } else {
    return false;
  }
  to.pointer = static_cast<uint64_t>(offset / kWordBytes) & 0x3ffff;
  return FitsWords(offset, 18);
}

}  // namespace

StackRow Shorten(const UnwindRow& row) {
  const RegisterRule& return_rule = row.rules[row.return_address];
  StackRow to;
  if (return_rule.kind == RegisterRule::Kind::kUndefined) {
    to.kind = StackRow::kOutermost;
    return to;
  }
  const bool fits = return_rule.kind == RegisterRule::Kind::kAtOffset && !row.is_signal_frame &&
                    FitsWords(return_rule.offset, 19) && ShortenFrame(row, to) &&
                    ShortenFramePointer(row.rules[native::kFramePointer], to);
  if (!fits) return {};
  to.return_address = static_cast<uint64_t>(return_rule.offset / kWordBytes) & 0x7ffff;
  return to;
}

}  // namespace batchlight::inject::backtrace
