#include "capture/cpu/timer_slots.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

namespace batchlight::capture {
namespace {

using format::TimerSample;

// Of a processor that is always busy, 80 ms at 199 a second.
constexpr long kSlotsPerProcessor = 16;
constexpr long kFewestSlots = 256;
constexpr long kMostSlots = 2048;
constexpr int kLeftRounds = 50;

#if defined(__x86_64__)
constexpr size_t kGivenRegisters = 16;
#else
constexpr size_t kGivenRegisters = 32;
#endif

TakenSample Copy(const TimerSample& slot) {
  TakenSample sample;
  sample.pid = slot.pid;
  sample.tid = slot.tid;
  sample.cpu = slot.cpu;
  sample.image_ns = slot.image_ns;
  sample.at_ns = slot.at_ns;
  sample.cpu_ns = slot.cpu_ns;
  sample.unloads = slot.unloads;
  sample.registers.pc = slot.pc;
  for (size_t i = 0; i < kGivenRegisters; ++i) sample.registers.Set(i, slot.registers[i]);
  const uint32_t bytes = std::min(slot.stack_bytes, format::kTimerStackBytes);
  sample.stack.assign(slot.stack, slot.stack + bytes);
  return sample;
}

}  // namespace

Result<TimerSlots> TimerSlots::Create(const LiveFolder& live_folder, const CpuOptions& options) {
  const auto failed = [&](int error) {
    return OutputError("cannot write " + live_folder.path() + "/" + format::kTimerSamplesFile +
                       ": " + std::strerror(error));
  };
  const auto slots = static_cast<uint32_t>(
      std::clamp(sysconf(_SC_NPROCESSORS_ONLN) * kSlotsPerProcessor, kFewestSlots, kMostSlots));
  const size_t bytes = format::TimerSamplesBytes(slots);
  const int fd = live_folder.folder().MakePrivateFile(format::kTimerSamplesFile);
  if (fd < 0) return failed(errno);
  // Storing into a hole on a full disk would be a SIGBUS, in the program.
  const int error = posix_fallocate(fd, 0, static_cast<off_t>(bytes));
  void* const memory =
      error == 0 ? mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
  const int reason = error != 0 ? error : errno;
  close(fd);
  if (memory == MAP_FAILED) return failed(reason);
  auto* page = static_cast<format::TimerSamplesPage*>(memory);
  page->slots = slots;
  page->copies_stack = options.backtrace == Backtrace::kNone ? 0 : 1;
  page->period_ns = options.period_ns;
  page->magic = format::kTimerSamplesMagic;
  return TimerSlots(page, slots);
}

TimerSlots::TimerSlots(TimerSlots&& other) noexcept
    : page_(std::exchange(other.page_, nullptr)),
      slots_(other.slots_),
      fillers_(std::move(other.fillers_)) {}

TimerSlots::~TimerSlots() {
  if (page_ != nullptr) munmap(page_, format::TimerSamplesBytes(slots_));
}

TimerSample& TimerSlots::SlotAt(uint32_t index) {
  auto* first =
      reinterpret_cast<TimerSample*>(reinterpret_cast<char*>(page_) + format::kTimerPageBytes);
  return first[index];
}

// By a process that was killed while it filled it.
void TimerSlots::FreeIfLeft(uint32_t index, uint32_t pid) {
  Filler& filler = fillers_[index];
  filler.rounds = filler.pid == pid ? filler.rounds + 1 : 0;
  filler.pid = pid;
  if (filler.rounds < kLeftRounds) return;
  filler.rounds = 0;
  if (kill(static_cast<pid_t>(pid), 0) == 0 || errno != ESRCH) return;
  SlotAt(index).state.compare_exchange_strong(pid, TimerSample::kFree);
}

std::vector<TakenSample> TimerSlots::Take() {
  std::vector<TakenSample> taken;
  for (uint32_t i = 0; i < slots_; ++i) {
    TimerSample& slot = SlotAt(i);
    const uint32_t state = slot.state.load(std::memory_order_acquire);
    if (state == TimerSample::kFilled) {
      taken.push_back(Copy(slot));
      slot.state.store(TimerSample::kFree, std::memory_order_release);
    } else if (state != TimerSample::kFree) {
      FreeIfLeft(i, state);
    }
  }
  std::stable_sort(taken.begin(), taken.end(),
                   [](const TakenSample& a, const TakenSample& b) { return a.at_ns < b.at_ns; });
  return taken;
}

}  // namespace batchlight::capture
