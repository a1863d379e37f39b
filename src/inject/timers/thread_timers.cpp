#include "inject/timers/thread_timers.h"

#include <pthread.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <ucontext.h>

#include <algorithm>
#include <atomic>
#include <ctime>
#include <utility>

#include "format/control.h"
#include "format/timer_samples.h"
#include "inject/rt/fork_handler.h"
#include "inject/rt/glibc.h"
#include "inject/rt/sys.h"
#include "inject/timers/timer_api.h"

#pragma weak batchlight_timer_api

namespace batchlight::inject::timers {
namespace {

using format::TimerSample;
using format::TimerSamplesPage;

// Each timer counts among the signals that a user may have pending (ulimit -i: some thousands).
constexpr size_t kMostTimers = 1024;
constexpr size_t kSignalSetBytes = 8;
constexpr int64_t kSecondNs = 1'000'000'000;

constinit const TimerApi* g_api = nullptr;
constinit TimerSamplesPage* g_page = nullptr;
constinit SigactionFunction* g_next = nullptr;
constinit std::atomic<bool> g_on{false};
constinit uint32_t g_pid = 0;
constinit int64_t g_image_ns = 0;
constinit pthread_key_t g_key = 0;
constinit struct sigaction g_programs = {};
// Numbers of timers + 1; whoever exchanges one for 0 deletes the timer.
constinit std::atomic<int32_t> g_timers[kMostTimers] = {};

constinit __thread uint32_t t_tid = 0;
constinit __thread uint32_t t_timer = 0;  // its place in g_timers + 1
constinit __thread int64_t t_cpu_ns = 0;  // when the last sample was taken

TimerSample* Slots() {
  return reinterpret_cast<TimerSample*>(reinterpret_cast<char*>(g_page) + format::kTimerPageBytes);
}

// The first that is free: the fewest pages are touched.
TimerSample* TakeSlot() {
  for (uint32_t i = 0; i < g_page->slots; ++i) {
    TimerSample& slot = Slots()[i];
    uint32_t state = slot.state.load(std::memory_order_relaxed);
    if (state == TimerSample::kFree &&
        slot.state.compare_exchange_strong(state, g_pid, std::memory_order_acquire)) {
      return &slot;
    }
  }
  return nullptr;
}

void CopyRegisters(const mcontext_t& from, TimerSample& to) {
#if defined(__x86_64__)
  // By the numbers that unwind tables use.
  constexpr int kNumbers[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                              REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                              REG_R12, REG_R13, REG_R14, REG_R15};
  uint32_t at = 0;
  for (const int number : kNumbers) {
    to.registers[at++] = static_cast<uint64_t>(from.gregs[number]);
  }
  to.pc = static_cast<uint64_t>(from.gregs[REG_RIP]);
#elif defined(__aarch64__)
  for (uint32_t i = 0; i < 31; ++i) to.registers[i] = from.regs[i];
  to.registers[31] = from.sp;
  to.pc = from.pc;
#endif
}

#if defined(__x86_64__)
constexpr size_t kStackPointer = 7;
#else
constexpr size_t kStackPointer = 31;
#endif

// By the kernel, which copies up to where memory ends: of a coroutine's stack, or of one that
// the program has broken, nobody knows where that is.
void CopyStack(TimerSample& to) {
  to.stack_bytes = 0;
  if (g_page->copies_stack == 0) return;
  const iovec local{to.stack, format::kTimerStackBytes};
  const iovec own{reinterpret_cast<void*>(to.registers[kStackPointer]), format::kTimerStackBytes};
  const long copied = sys::Call(SYS_process_vm_readv, g_pid, &local, 1, &own, 1, 0);
  if (copied > 0) to.stack_bytes = static_cast<uint32_t>(copied);
}

void TakeSample(const mcontext_t& context, int64_t ran_ns) {
  TimerSample* slot = TakeSlot();
  if (slot == nullptr) {
    g_page->dropped.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  slot->pid = g_pid;
  slot->tid = t_tid;
  slot->cpu = 0;
  sys::Call(SYS_getcpu, &slot->cpu, nullptr, nullptr);
  slot->image_ns = g_image_ns;
  slot->at_ns = sys::Nanoseconds(CLOCK_MONOTONIC);
  slot->cpu_ns = static_cast<uint64_t>(ran_ns);
  slot->unloads = g_page->unloads.load(std::memory_order_relaxed);
  CopyRegisters(context, *slot);
  CopyStack(*slot);
  slot->state.store(TimerSample::kFilled, std::memory_order_release);
}

// -1 where a filter of the program's refuses it: this clock is asked of the kernel.
int64_t ThreadCpuNs() {
  timespec now;
  if (::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) != 0) return -1;
  return int64_t{now.tv_sec} * kSecondNs + now.tv_nsec;
}

// Since the sample before.
int64_t RanNs(const siginfo_t& info) {
  const int64_t now_ns = ThreadCpuNs();
  if (now_ns < 0) return g_page->period_ns * (1 + int64_t{info.si_overrun});
  return now_ns - std::exchange(t_cpu_ns, now_ns);
}

// Runs with all signals blocked, on the program's signal stack if the thread has one. Takes no lock
// and no memory.
void OnTimer(int, siginfo_t* info, void* context) {
  if (info->si_code != SI_TIMER || info->si_value.sival_ptr != &g_timers) return;
  if (!g_on.load(std::memory_order_relaxed)) return;
  const sys::ErrnoSaver errno_saver;
  const int64_t ran_ns = RanNs(*info);
  const uint32_t state = g_api->state->load(std::memory_order_relaxed);
  if ((state & format::kStateCollecting) == 0 || ran_ns <= 0) return;
  TakeSample(static_cast<const ucontext_t*>(context)->uc_mcontext, ran_ns);
}

void DeleteTimer(std::atomic<int32_t>& place) {
  const int32_t timer = place.exchange(0, std::memory_order_acq_rel);
  if (timer != 0) sys::Call(SYS_timer_delete, timer - 1);
}

void EndThread(void*) {
  if (t_timer != 0) DeleteTimer(g_timers[t_timer - 1]);
  t_timer = 0;
}

// Who waits for signals by sigwait, as all of the process's threads that block them do, would get
// ours.
bool BlocksSignal() {
  uint64_t blocked = 0;
  sys::Call(SYS_rt_sigprocmask, SIG_BLOCK, nullptr, &blocked, kSignalSetBytes);
  return (blocked >> (kSignal - 1) & 1) != 0;
}

bool KeepTimer(int32_t timer) {
  for (uint32_t i = 0; i < kMostTimers; ++i) {
    int32_t none = 0;
    if (g_timers[i].load(std::memory_order_relaxed) == 0 &&
        g_timers[i].compare_exchange_strong(none, timer + 1, std::memory_order_acq_rel)) {
      t_timer = i + 1;
      return true;
    }
  }
  return false;
}

// False: there can be no more.
bool StartTimer() {
  sigevent event = {};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = kSignal;
  event.sigev_value.sival_ptr = &g_timers;
  event._sigev_un._tid = static_cast<int>(t_tid);
  int32_t timer = 0;
  if (sys::Call(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &timer) != 0) return false;
  if (!KeepTimer(timer)) {
    sys::Call(SYS_timer_delete, timer);
    return false;
  }
  const timespec period{g_page->period_ns / kSecondNs, g_page->period_ns % kSecondNs};
  const itimerspec times{period, period};
  sys::Call(SYS_timer_settime, timer, 0, &times, nullptr);
  return true;
}

// The child of a fork has neither timers nor other threads.
void StartChild() {
  if (!g_on.load(std::memory_order_relaxed)) return;
  for (auto& timer : g_timers) timer.store(0, std::memory_order_relaxed);
  g_pid = static_cast<uint32_t>(sys::Pid());
  g_image_ns = sys::Nanoseconds(CLOCK_MONOTONIC);
  t_timer = 0;
  g_page->processes.fetch_add(1, std::memory_order_relaxed);
  StartThread();
}

// The tool's file, if it made one.
TimerSamplesPage* MapSlots() {
  const int folder = g_api->open_folder();
  if (folder < 0) return nullptr;
  const int fd = sys::OpenAt(folder, format::kTimerSamplesFile, O_RDWR | O_NOFOLLOW | O_NONBLOCK);
  sys::Close(folder);
  if (fd < 0) return nullptr;
  struct stat about;
  long memory = -1;
  if (sys::Call(SYS_fstat, fd, &about) == 0 && S_ISREG(about.st_mode) &&
      about.st_size >= off_t{format::kTimerPageBytes}) {
    memory = sys::Call(SYS_mmap, nullptr, about.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  }
  sys::Close(fd);
  if (memory == -1 || sys::IsError(memory)) return nullptr;
  auto* page = reinterpret_cast<TimerSamplesPage*>(memory);
  const auto bytes = static_cast<size_t>(about.st_size);
  if (page->magic == format::kTimerSamplesMagic &&
      format::TimerSamplesBytes(page->slots) <= bytes && page->period_ns > 0) {
    return page;
  }
  sys::Unmap(page, bytes);
  return nullptr;
}

bool SetHandler() {
  if (g_next(kSignal, nullptr, &g_programs) != 0) return false;
  if (g_programs.sa_handler != SIG_DFL && g_programs.sa_handler != SIG_IGN) return false;
  struct sigaction action = {};
  action.sa_sigaction = OnTimer;
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  for (auto& word : action.sa_mask.__val) word = ~0ul;
  return g_next(kSignal, &action, nullptr) == 0;
}

}  // namespace

bool IsOn() {
  return g_on.load(std::memory_order_acquire) && static_cast<uint32_t>(sys::Pid()) == g_pid;
}

void StartThread() {
  if (!g_on.load(std::memory_order_acquire)) return;
  t_tid = static_cast<uint32_t>(sys::Tid());
  t_cpu_ns = std::max<int64_t>(0, ThreadCpuNs());
  if (BlocksSignal() || !StartTimer()) return CountThreadWithout();
  if (pthread_setspecific(g_key, &g_timers) != 0) EndThread(nullptr);
  // Another thread may have ended it all meanwhile, without seeing this timer.
  if (!g_on.load(std::memory_order_acquire)) EndThread(nullptr);
}

void CountUnload() { g_page->unloads.fetch_add(1, std::memory_order_seq_cst); }

void CountThreadWithout() { g_page->threads_without.fetch_add(1, std::memory_order_relaxed); }

void StandAside(const char* why) {
  if (!g_on.exchange(false)) return;
  for (auto& timer : g_timers) DeleteTimer(timer);
  const uint64_t set = uint64_t{1} << (kSignal - 1);
  const timespec at_once{};
  while (sys::Call(SYS_rt_sigtimedwait, &set, nullptr, &at_once, kSignalSetBytes) == kSignal) {
  }
  g_next(kSignal, &g_programs, nullptr);
  g_api->reason(why);
}

struct sigaction& ProgramsAction() {
  return g_programs;
}

void StartProcess(SigactionFunction* next, const char* why_not) {
  g_next = next;
  g_api = batchlight_timer_api != nullptr ? batchlight_timer_api() : nullptr;
  if (g_api == nullptr || next == nullptr) return;
  if (why_not != nullptr) return g_api->reason(why_not);
  g_page = MapSlots();
  if (g_page == nullptr) return;
  if (pthread_key_create == nullptr || pthread_key_create(&g_key, EndThread) != 0) return;
  if (!SetHandler()) {
    return g_api->reason("a handler of SIGURG was set before: CPU samples are not taken");
  }
  g_pid = static_cast<uint32_t>(sys::Pid());
  g_image_ns = sys::Nanoseconds(CLOCK_MONOTONIC);
  g_on.store(true, std::memory_order_release);
  g_page->processes.fetch_add(1, std::memory_order_relaxed);
  OnForkInChild(StartChild);
  StartThread();
}

}  // namespace batchlight::inject::timers
