// What walking a sampled stack costs: its own stack, below a recursion and through the C library,
// again and again from one copy. Processor time, so that a busy machine changes nothing.
//
//   unwind_bench [STACKS] [DEPTH]
#include <ucontext.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

#include "native/unwinder.h"

namespace {

using namespace batchlight::native;

double CpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

struct Bench {
  Modules modules;
  AddressSpace space;
  uint64_t stack_end = 0;
  long stacks = 100'000;

  void ReadMaps() {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
      unsigned long begin = 0, end = 0, offset = 0;
      char rights[8] = "", path[4096] = "";
      const int fields = std::sscanf(line.c_str(), "%lx-%lx %7s %lx %*s %*s %4095s", &begin, &end,
                                     rights, &offset, path);
      if (fields >= 4 && rights[2] == 'x') {
        space.Map(begin, end - begin, offset, modules.Find(path));
      }
      if (line.ends_with("[stack]")) stack_end = end;
    }
  }

  void Run() {
    ucontext_t context;
    getcontext(&context);
    Registers registers;
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
    registers.Set(kStackPointer, context.uc_mcontext.sp);
    registers.pc = context.uc_mcontext.pc;
#endif
    const uint64_t top = registers.values[kStackPointer];
    const auto* memory = reinterpret_cast<const uint8_t*>(top);
    const std::vector<uint8_t> copy(memory, memory + (stack_end - top));
    std::vector<CodePlace> frames;
    const double first = CpuSeconds();
    WalkStack(space, registers, {copy, top}, 512, frames);
    const double begin = CpuSeconds();
    for (long i = 0; i < stacks; ++i) {
      frames.clear();
      WalkStack(space, registers, {copy, top}, 512, frames);
    }
    const double seconds = CpuSeconds() - begin;
    std::printf(
        "%zu frames: first stack %.1f us, then %.2f us a stack, %.0f ns a frame; "
        "a million stacks %.1f s of one processor\n",
        frames.size(), (begin - first) * 1e6, seconds / static_cast<double>(stacks) * 1e6,
        seconds / static_cast<double>(stacks) / static_cast<double>(frames.size()) * 1e9,
        seconds / static_cast<double>(stacks) * 1e6);
  }
};

Bench bench;

__attribute__((noinline)) int Descend(int depth) {
  volatile char room[64];
  room[0] = static_cast<char>(depth);
  if (depth == 0) {
    bench.Run();
    return room[0];
  }
  return Descend(depth - 1) + room[0];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) bench.stacks = std::atol(argv[1]);
  const int depth = argc > 2 ? std::atoi(argv[2]) : 30;
  bench.ReadMaps();
  static int result = 0;
  static int wanted = depth;
  int values[] = {2, 1};
  std::qsort(values, 2, sizeof values[0], [](const void*, const void*) {
    result += Descend(wanted);
    return 0;
  });
  return result == 42 ? 1 : 0;
}
