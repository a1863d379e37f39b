// What walking a sampled stack costs: its own stack, below a recursion and through the C library,
// again and again from one copy. Processor time, so that a busy machine changes nothing.
//
//   unwind_bench [STACKS] [DEPTH]
#include <ucontext.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "native/unwinder.h"
#include "tests/support/own_stack.h"

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

  void Run() {
    ucontext_t context;
    getcontext(&context);
    const Registers registers = batchlight::testing_support::RegistersOf(context);
    const uint64_t top = registers.values[kStackPointer];
    const auto* memory = reinterpret_cast<const uint8_t*>(top);
    const std::vector<uint8_t> copy(memory, memory + (stack_end - top));
    std::vector<CodePlace> frames;
    uint64_t work_left = UINT64_MAX;
    const double first = CpuSeconds();
    WalkStack(space, registers, {copy, top}, 512, frames, work_left);
    const double begin = CpuSeconds();
    for (long i = 0; i < stacks; ++i) {
      frames.clear();
      WalkStack(space, registers, {copy, top}, 512, frames, work_left);
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
  bench.stack_end = batchlight::testing_support::MapOwnCode(bench.modules, bench.space);
  static int result = 0;
  static int wanted = depth;
  int values[] = {2, 1};
  std::qsort(values, 2, sizeof values[0], [](const void*, const void*) {
    result += Descend(wanted);
    return 0;
  });
  return result == 42 ? 1 : 0;
}
