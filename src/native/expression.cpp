#include "native/expression.h"

#include <array>
#include <cstring>

#include "native/byte_reader.h"

namespace batchlight::native {
namespace {

class Machine {
 public:
  Machine(const Registers& registers, const StackCopy& stack)
      : registers_(registers), memory_(stack) {}

  void Push(uint64_t value) {
    if (depth_ == values_.size()) {
      ok_ = false;
    } else {
      values_[depth_++] = value;
    }
  }
  uint64_t Pop() {
    if (depth_ == 0) {
      ok_ = false;
      return 0;
    }
    return values_[--depth_];
  }
  bool ok() const { return ok_; }

  // False if the operation is not known.
  bool Do(uint8_t operation, ByteReader& in) {
    if (operation >= 0x30 && operation <= 0x4f) {  // lit0 ...
      Push(operation - 0x30u);
      return true;
    }
    if (operation >= 0x70 && operation <= 0x8f) {  // breg0 ...
      PushRegister(operation - 0x70u, in.Sleb());
      return true;
    }
    return DoConstant(operation, in) || DoStack(operation) || DoArithmetic(operation, in);
  }

 private:
  void PushRegister(size_t number, int64_t offset) {
    ok_ = ok_ && number < kRegisters && registers_.known[number];
    Push(ok_ ? registers_.values[number] + static_cast<uint64_t>(offset) : 0);
  }

  bool DoConstant(uint8_t operation, ByteReader& in) {
    const auto push_signed = [&](int64_t value) { Push(static_cast<uint64_t>(value)); };
    switch (operation) {
      case 0x08:
        Push(in.Read<uint8_t>());
        return true;
      case 0x09:
        push_signed(in.Read<int8_t>());
        return true;
      case 0x0a:
        Push(in.Read<uint16_t>());
        return true;
      case 0x0b:
        push_signed(in.Read<int16_t>());
        return true;
      case 0x0c:
        Push(in.Read<uint32_t>());
        return true;
      case 0x0d:
        push_signed(in.Read<int32_t>());
        return true;
      case 0x0e:
      case 0x0f:
        Push(in.Read<uint64_t>());
        return true;
      case 0x10:
        Push(in.Uleb());
        return true;
      case 0x11:
        push_signed(in.Sleb());
        return true;
      case 0x92: {  // bregx
        const uint64_t number = in.Uleb();
        PushRegister(number, in.Sleb());
        return true;
      }
      default:
        return false;
    }
  }

  bool DoStack(uint8_t operation) {
    switch (operation) {
      case 0x06: {  // deref
        const auto word = memory_.Word(Pop());
        ok_ = ok_ && word.has_value();
        Push(word.value_or(0));
        return true;
      }
      case 0x12: {  // dup
        const uint64_t top = Pop();
        Push(top);
        Push(top);
        return true;
      }
      case 0x13:  // drop
        (void)Pop();
        return true;
      case 0x16: {  // swap
        const uint64_t top = Pop();
        const uint64_t next = Pop();
        Push(top);
        Push(next);
        return true;
      }
      case 0x96:  // nop
        return true;
      default:
        return false;
    }
  }

  bool DoArithmetic(uint8_t operation, ByteReader& in) {
    if (operation == 0x23) {  // plus_uconst
      Push(Pop() + in.Uleb());
      return true;
    }
    if (operation == 0x1f || operation == 0x20) {  // neg, not
      const uint64_t top = Pop();
      Push(operation == 0x1f ? 0 - top : ~top);
      return true;
    }
    const uint64_t right = Pop();
    const uint64_t left = Pop();
    switch (operation) {
      case 0x1a:
        Push(left & right);
        return true;
      case 0x1c:
        Push(left - right);
        return true;
      case 0x1e:
        Push(left * right);
        return true;
      case 0x21:
        Push(left | right);
        return true;
      case 0x22:
        Push(left + right);
        return true;
      case 0x24:
        Push(right < 64 ? left << right : 0);
        return true;
      case 0x25:
        Push(right < 64 ? left >> right : 0);
        return true;
      case 0x27:
        Push(left ^ right);
        return true;
      default:
        return DoComparison(operation, left, right);
    }
  }

  bool DoComparison(uint8_t operation, uint64_t left, uint64_t right) {
    const auto signed_left = static_cast<int64_t>(left);
    const auto signed_right = static_cast<int64_t>(right);
    switch (operation) {
      case 0x29:
        Push(left == right);
        return true;
      case 0x2a:
        Push(signed_left >= signed_right);
        return true;
      case 0x2b:
        Push(signed_left > signed_right);
        return true;
      case 0x2c:
        Push(signed_left <= signed_right);
        return true;
      case 0x2d:
        Push(signed_left < signed_right);
        return true;
      case 0x2e:
        Push(left != right);
        return true;
      default:
        return false;
    }
  }

  const Registers& registers_;
  const StackCopy& memory_;
  std::array<uint64_t, 32> values_{};
  size_t depth_ = 0;
  bool ok_ = true;
};

}  // namespace

std::optional<uint64_t> StackCopy::Word(uint64_t at) const {
  if (at < address_ || bytes_.size() < sizeof(uint64_t) ||
      at - address_ > bytes_.size() - sizeof(uint64_t)) {
    return std::nullopt;
  }
  uint64_t word = 0;
  std::memcpy(&word, bytes_.data() + (at - address_), sizeof word);
  return word;
}

std::optional<uint64_t> Evaluate(Expression expression, const Registers& registers,
                                 const StackCopy& stack, std::optional<uint64_t> cfa) {
  Machine machine(registers, stack);
  if (cfa) machine.Push(*cfa);
  ByteReader in(expression, 0);
  while (!in.at_end()) {
    if (!machine.Do(in.Read<uint8_t>(), in) || !machine.ok()) return std::nullopt;
  }
  const uint64_t value = machine.Pop();
  return machine.ok() && in.ok() ? std::optional(value) : std::nullopt;
}

}  // namespace batchlight::native
