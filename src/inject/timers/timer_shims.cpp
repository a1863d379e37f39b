// What stands between the program and the C library while a process samples itself by timers: new
// threads get one, and whoever wants the timers' signal for itself has it.
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>

#include <atomic>

#include "inject/timers/next_function.h"
#include "inject/timers/thread_timers.h"

#define BATCHLIGHT_EXPORT extern "C" __attribute__((visibility("default")))

// Of the sanitizers; nullptr without them.
extern "C" {
__attribute__((weak)) void __asan_init();
__attribute__((weak)) void __tsan_init();
__attribute__((weak)) void __msan_init();
__attribute__((weak)) void __hwasan_init();
}

namespace batchlight::inject::timers {
namespace {

using CreateFunction = int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
using SignalFunction = sighandler_t(int, sighandler_t);
using WaitFunction = int(const sigset_t*, int*);
using WaitInfoFunction = int(const sigset_t*, siginfo_t*);
using TimedWaitFunction = int(const sigset_t*, siginfo_t*, const timespec*);
using SignalfdFunction = int(int, const sigset_t*, int);
using CloseLibraryFunction = int(void*);

constinit SigactionFunction* g_next_sigaction = nullptr;
constinit CreateFunction* g_next_create = nullptr;
constinit SignalFunction* g_next_signal = nullptr;
constinit SigactionFunction* g_next_own_sigaction = nullptr;
constinit SignalFunction* g_next_sysv_signal = nullptr;
constinit SignalFunction* g_next_own_sysv_signal = nullptr;
constinit SignalFunction* g_next_bsd_signal = nullptr;
constinit SignalFunction* g_next_ssignal = nullptr;
constinit SignalFunction* g_next_sigset = nullptr;
constinit WaitFunction* g_next_sigwait = nullptr;
constinit WaitInfoFunction* g_next_sigwaitinfo = nullptr;
constinit TimedWaitFunction* g_next_sigtimedwait = nullptr;
constinit SignalfdFunction* g_next_signalfd = nullptr;
constinit CloseLibraryFunction* g_next_dlclose = nullptr;

constexpr char kHandled[] =
    "the program handles SIGURG, which the timers of CPU samples use: it is not sampled from there "
    "on";

// A new thread's own function, on its way there.
struct Handover {
  std::atomic<bool> is_taken;
  void* (*start)(void*);
  void* argument;
};
constexpr size_t kHandovers = 64;
constinit Handover g_handovers[kHandovers] = {};

Handover* TakeHandover() {
  for (Handover& handover : g_handovers) {
    if (!handover.is_taken.exchange(true, std::memory_order_acquire)) return &handover;
  }
  return nullptr;
}

void* Begin(void* user) {
  auto* handover = static_cast<Handover*>(user);
  void* (*const start)(void*) = handover->start;
  void* const argument = handover->argument;
  handover->is_taken.store(false, std::memory_order_release);
  StartThread();
  return start(argument);
}

// Before it waits for signals: it would be given ours.
void LeaveTo(const sigset_t* set) {
  if (set == nullptr || (set->__val[0] >> (kSignal - 1) & 1) == 0 || !IsOn()) return;
  StandAside(
      "the program waits for SIGURG, which the timers of CPU samples use: it is not sampled from "
      "there on");
}

// Whatever it sets by a call that hardly anybody uses, or that headers use for signal() in old
// standards: it is left alone from there on.
sighandler_t SetByOther(SignalFunction*& next, const char* name, int number, sighandler_t handler) {
  if (number == kSignal && IsOn()) StandAside(kHandled);
  return NextFunction(next, name)(number, handler);
}

// A sanitizer has functions of the same names, and must see the program's calls as they are.
const char* WhyNot() {
  const bool has_sanitizer = __asan_init != nullptr || __tsan_init != nullptr ||
                             __msan_init != nullptr || __hwasan_init != nullptr;
  return has_sanitizer ? "the program has a sanitizer: its CPU samples are not taken" : nullptr;
}

__attribute__((constructor)) void Start() {
  StartProcess(NextFunction(g_next_sigaction, "sigaction"), WhyNot());
}

}  // namespace
}  // namespace batchlight::inject::timers

using namespace batchlight::inject::timers;

BATCHLIGHT_EXPORT int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                     void* (*start)(void*), void* argument) noexcept {
  CreateFunction* next = NextFunction(g_next_create, "pthread_create");
  Handover* handover = IsOn() ? TakeHandover() : nullptr;
  if (handover == nullptr) {
    if (IsOn()) CountThreadWithout();
    return next(thread, attributes, start, argument);
  }
  handover->start = start;
  handover->argument = argument;
  const int result = next(thread, attributes, Begin, handover);
  if (result != 0) handover->is_taken.store(false, std::memory_order_release);
  return result;
}

// While ours is in place, the program sees what it has set.
BATCHLIGHT_EXPORT int sigaction(int number, const struct sigaction* action,
                                struct sigaction* before) noexcept {
  SigactionFunction* next = NextFunction(g_next_sigaction, "sigaction");
  if (number != kSignal || !IsOn()) return next(number, action, before);
  const struct sigaction was = ProgramsAction();
  if (action != nullptr) {
    const bool handles = (action->sa_flags & SA_SIGINFO) != 0 ||
                         (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN);
    if (handles) {
      StandAside(kHandled);
      return next(number, action, before);
    }
    ProgramsAction() = *action;
  }
  if (before != nullptr) *before = was;
  return 0;
}

BATCHLIGHT_EXPORT sighandler_t signal(int number, sighandler_t handler) noexcept {
  if (number != kSignal || !IsOn()) return NextFunction(g_next_signal, "signal")(number, handler);
  struct sigaction action = {};
  struct sigaction before = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  return sigaction(number, &action, &before) == 0 ? before.sa_handler : SIG_ERR;
}

BATCHLIGHT_EXPORT int __sigaction(int number, const struct sigaction* action,
                                  struct sigaction* before) noexcept {
  if (number == kSignal && IsOn()) return sigaction(number, action, before);
  return NextFunction(g_next_own_sigaction, "__sigaction")(number, action, before);
}

BATCHLIGHT_EXPORT sighandler_t sysv_signal(int number, sighandler_t handler) noexcept {
  return SetByOther(g_next_sysv_signal, "sysv_signal", number, handler);
}

BATCHLIGHT_EXPORT sighandler_t __sysv_signal(int number, sighandler_t handler) noexcept {
  return SetByOther(g_next_own_sysv_signal, "__sysv_signal", number, handler);
}

BATCHLIGHT_EXPORT sighandler_t bsd_signal(int number, sighandler_t handler) noexcept {
  return SetByOther(g_next_bsd_signal, "bsd_signal", number, handler);
}

BATCHLIGHT_EXPORT sighandler_t ssignal(int number, sighandler_t handler) noexcept {
  return SetByOther(g_next_ssignal, "ssignal", number, handler);
}

BATCHLIGHT_EXPORT sighandler_t sigset(int number, sighandler_t handler) noexcept {
  return SetByOther(g_next_sigset, "sigset", number, handler);
}

BATCHLIGHT_EXPORT int sigwait(const sigset_t* set, int* number) {
  LeaveTo(set);
  return NextFunction(g_next_sigwait, "sigwait")(set, number);
}

BATCHLIGHT_EXPORT int sigwaitinfo(const sigset_t* set, siginfo_t* info) {
  LeaveTo(set);
  return NextFunction(g_next_sigwaitinfo, "sigwaitinfo")(set, info);
}

BATCHLIGHT_EXPORT int sigtimedwait(const sigset_t* set, siginfo_t* info, const timespec* timeout) {
  LeaveTo(set);
  return NextFunction(g_next_sigtimedwait, "sigtimedwait")(set, info, timeout);
}

BATCHLIGHT_EXPORT int signalfd(int descriptor, const sigset_t* set, int flags) noexcept {
  LeaveTo(set);
  return NextFunction(g_next_signalfd, "signalfd")(descriptor, set, flags);
}

// Both before and after: samples of the time between may be of either.
BATCHLIGHT_EXPORT int dlclose(void* library) noexcept {
  CloseLibraryFunction* next = NextFunction(g_next_dlclose, "dlclose");
  const bool counts = IsOn();
  if (counts) CountUnload();
  const int result = next(library);
  if (counts) CountUnload();
  return result;
}
