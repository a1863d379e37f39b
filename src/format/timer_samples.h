// Samples that the threads of recorded programs take of themselves, by timers of their processor
// time, where the kernel does not sample for the tool. The tool makes one file of slots in the live
// folder; a handler fills a free one, the tool walks the stack in it and frees it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace batchlight::format {

inline constexpr char kTimerSamplesFile[] = "timer_samples";
inline constexpr uint64_t kTimerSamplesMagic = 0x31504d5352544c42;  // "BLTRSMP1"

// Of a thread's stack, from its stack pointer on.
inline constexpr uint32_t kTimerStackBytes = 16 * 1024;
// As unwind tables (DWARF) number them: of x86-64 0 to 15, of AArch64 0 to 31.
inline constexpr uint32_t kTimerRegisters = 32;

struct TimerSample {
  static constexpr uint32_t kFree = 0;
  static constexpr uint32_t kFilled = 0xffffffff;

  std::atomic<uint32_t> state;  // or the pid of who is filling it
  uint32_t pid;
  uint32_t tid;
  uint32_t cpu;
  int64_t image_ns;  // with the pid it names what is loaded: another after an exec
  int64_t at_ns;     // CLOCK_MONOTONIC
  uint64_t cpu_ns;   // that the thread has run since its sample before
  uint64_t pc;
  uint64_t registers[kTimerRegisters];
  uint32_t stack_bytes;  // that could be copied
  uint32_t unloads;      // TimerSamplesPage::unloads at that time
  uint8_t stack[kTimerStackBytes];
};

struct TimerSamplesPage {
  uint64_t magic;
  uint32_t slots;                         // that follow the page
  uint32_t copies_stack;                  // 0: no callers are wanted
  int64_t period_ns;                      // of a thread's processor time
  std::atomic<uint64_t> dropped;          // samples that found no free slot
  std::atomic<uint32_t> processes;        // that sample themselves
  std::atomic<uint32_t> threads_without;  // a timer: there were too many, or they block the signal
  // Times that one of them was about to unload a library, or had: what lay at an address before may
  // not be what lies there now.
  std::atomic<uint32_t> unloads;
};
inline constexpr size_t kTimerPageBytes = 4096;
static_assert(sizeof(TimerSamplesPage) <= kTimerPageBytes);

inline size_t TimerSamplesBytes(uint32_t slots) {
  return kTimerPageBytes + slots * sizeof(TimerSample);
}

}  // namespace batchlight::format
