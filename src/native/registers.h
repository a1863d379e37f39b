// The registers of a thread, numbered as unwind tables (DWARF) number them.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>

namespace batchlight::native {

#if defined(__x86_64__)
inline constexpr size_t kRegisters = 17;  // rax rdx rcx rbx rsi rdi rbp rsp r8-r15, return address
inline constexpr size_t kStackPointer = 7;
inline constexpr size_t kFramePointer = 6;
inline constexpr size_t kReturnAddress = 16;
#elif defined(__aarch64__)
inline constexpr size_t kRegisters = 32;  // x0-x30, sp
inline constexpr size_t kStackPointer = 31;
inline constexpr size_t kFramePointer = 29;
inline constexpr size_t kReturnAddress = 30;
#endif

struct Registers {
  uint64_t pc = 0;
  std::array<uint64_t, kRegisters> values{};
  std::bitset<kRegisters> known;

  void Set(size_t number, uint64_t value) {
    values[number] = value;
    known.set(number);
  }
};

}  // namespace batchlight::native
