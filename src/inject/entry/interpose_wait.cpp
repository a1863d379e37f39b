// The calls by which a program learns how its children end: wait, waitpid, wait3, wait4, waitid.
// What they return goes into the recording: a child that was killed cannot say so itself, and once
// its parent has reaped it, nobody else can learn it on Linux before 6.15
// (capture/program/process_end.cpp).
//
// system() and pclose() wait within the C library, past these. They are not interposed: neither
// says which process it waited for, and glibc before 2.34 gives a program without libdl no way to
// the functions behind ours. A child that exits still says so itself; of one that a signal ended,
// the tool knows only that it is gone.
#include <dlfcn.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "inject/buffer/chunk_file.h"
#include "inject/buffer/thread_stream.h"
#include "inject/entry/export.h"
#include "inject/entry/interpose.h"
#include "inject/rt/control.h"
#include "inject/rt/process.h"
#include "inject/rt/sys.h"

namespace batchlight::inject {
namespace {

using Wait4Function = pid_t(pid_t, int*, int, rusage*);
using WaitidFunction = int(idtype_t, id_t, siginfo_t*, int);

// All but waitid are wait4 with fewer arguments.
Wait4Function* g_next_wait4 = nullptr;
WaitidFunction* g_next_waitid = nullptr;

pid_t CallWait4(pid_t pid, int* status, int options, rusage* usage) {
  if (g_next_wait4 != nullptr) return g_next_wait4(pid, status, options, usage);
  return static_cast<pid_t>(::syscall(SYS_wait4, pid, status, options, usage));
}

// Nothing is recorded of a program that has recorded nothing else.
void SayEnd(pid_t pid, int wait_status) {
  if (Control() == nullptr || (!WIFEXITED(wait_status) && !WIFSIGNALED(wait_status))) return;
  sys::ErrnoSaver errno_saver;
  if (static_cast<uint32_t>(sys::Pid()) != g_process.pid) return;  // a child of vfork
  Guard guard;
  if (!guard || (!HasProcessFile() && !Collecting())) return;
  SayForChild(guard);
  ThreadStream* stream = ThreadStream::Current(guard);
  if (stream == nullptr || !stream->Ensure(sizeof(format::ProcessStatusRecord))) return;
  stream->Write(format::ProcessStatusRecord{.pid = static_cast<uint32_t>(pid),
                                            .known = 1,
                                            .wait_status = wait_status,
                                            .attach_ns = 0,
                                            .end_ns = sys::Nanoseconds(CLOCK_MONOTONIC)});
}

pid_t WaitAndSay(pid_t pid, int* status, int options, rusage* usage) {
  int own = 0;
  int* const seen = status != nullptr ? status : &own;  // where nobody may write the kernel says so
  const pid_t ended = CallWait4(pid, seen, options, usage);
  if (ended > 0) SayEnd(ended, *seen);
  return ended;
}

}  // namespace

void FindInterposedWaits() {
  if (dlsym == nullptr) return;
  g_next_wait4 = reinterpret_cast<Wait4Function*>(dlsym(RTLD_NEXT, "wait4"));
  g_next_waitid = reinterpret_cast<WaitidFunction*>(dlsym(RTLD_NEXT, "waitid"));
}

}  // namespace batchlight::inject

using namespace batchlight::inject;

BATCHLIGHT_EXPORT pid_t wait(int* status) { return WaitAndSay(-1, status, 0, nullptr); }

BATCHLIGHT_EXPORT pid_t waitpid(pid_t pid, int* status, int options) {
  return WaitAndSay(pid, status, options, nullptr);
}

BATCHLIGHT_EXPORT pid_t wait3(int* status, int options, rusage* usage) noexcept {
  return WaitAndSay(-1, status, options, usage);
}

BATCHLIGHT_EXPORT pid_t wait4(pid_t pid, int* status, int options, rusage* usage) noexcept {
  return WaitAndSay(pid, status, options, usage);
}

BATCHLIGHT_EXPORT int waitid(idtype_t type, id_t id, siginfo_t* info, int options) {
  siginfo_t seen{};
  siginfo_t* to = info != nullptr ? info : &seen;
  const int result = g_next_waitid != nullptr
                         ? g_next_waitid(type, id, to, options)
                         : static_cast<int>(::syscall(SYS_waitid, type, id, to, options, nullptr));
  if (result != 0 || (options & WEXITED) == 0 || to->si_pid == 0) return result;
  if (to->si_code == CLD_EXITED) SayEnd(to->si_pid, W_EXITCODE(to->si_status & 0xff, 0));
  if (to->si_code == CLD_KILLED) SayEnd(to->si_pid, W_EXITCODE(0, to->si_status));
  if (to->si_code == CLD_DUMPED) SayEnd(to->si_pid, W_EXITCODE(0, to->si_status) | WCOREFLAG);
  return result;
}
