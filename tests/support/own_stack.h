// This process's own code and registers, as a sample of it would have them.
#pragma once

#include <ucontext.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "native/address_space.h"
#include "native/registers.h"

namespace batchlight::testing_support {

// Maps what is code into `space`; returns the end of the main thread's stack.
inline uint64_t MapOwnCode(native::Modules& modules, native::AddressSpace& space) {
  uint64_t stack_end = 0;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0;
    unsigned long end = 0;
    unsigned long offset = 0;
    char rights[8] = "";
    char path[4096] = "";
    const int fields = std::sscanf(line.c_str(), "%lx-%lx %7s %lx %*s %*s %4095s", &begin, &end,
                                   rights, &offset, path);
    if (fields >= 4 && rights[2] == 'x') space.Map(begin, end - begin, offset, modules.Find(path));
    if (line.ends_with("[stack]")) stack_end = end;
  }
  return stack_end;
}

inline native::Registers RegistersOf(const ucontext_t& context) {
  native::Registers registers;
#if defined(__x86_64__)
  const auto& saved = context.uc_mcontext.gregs;
  constexpr int kPlaces[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                             REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                             REG_R12, REG_R13, REG_R14, REG_R15};
  for (size_t i = 0; i < std::size(kPlaces); ++i) {
    registers.Set(i, static_cast<uint64_t>(saved[kPlaces[i]]));
  }
  registers.pc = static_cast<uint64_t>(saved[REG_RIP]);
#else
  for (size_t i = 0; i < 31; ++i) registers.Set(i, context.uc_mcontext.regs[i]);
  registers.Set(native::kStackPointer, context.uc_mcontext.sp);
  registers.pc = context.uc_mcontext.pc;
#endif
  return registers;
}

}  // namespace batchlight::testing_support
