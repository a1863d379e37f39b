// prctl: a thread that confines itself to reading, writing and ending (seccomp's strict mode) is
// killed at any other system call, ours included. Its recording ends just before.
#include <linux/seccomp.h>
#include <sys/prctl.h>

#include <cstdarg>

#include "inject/buffer/facts.h"
#include "inject/buffer/thread_stream.h"
#include "inject/entry/export.h"
#include "inject/entry/interpose.h"
#include "inject/rt/control.h"
#include "inject/rt/process.h"
#include "inject/rt/sys.h"

namespace batchlight::inject {
namespace {

void LeaveThread() {
  {
    Guard guard;
    if (!guard || Control() == nullptr) return;
    Reason(guard, "threads",
           "a thread confined itself with seccomp's strict mode: it is not recorded from there on");
    ThreadStream::CloseCurrent(guard);
  }
  t_thread.inside = kConfined;
}

}  // namespace
}  // namespace batchlight::inject

using namespace batchlight::inject;

BATCHLIGHT_EXPORT int prctl(int option, ...) {
  va_list list;
  va_start(list, option);
  unsigned long words[4];
  for (unsigned long& word : words) word = va_arg(list, unsigned long);
  va_end(list);
  const bool confines = option == PR_SET_SECCOMP && words[0] == SECCOMP_MODE_STRICT;
  if (confines) LeaveThread();
  const long result = ::syscall(SYS_prctl, option, words[0], words[1], words[2], words[3]);
  if (confines && result != 0 && t_thread.inside == kConfined) t_thread.inside = 0;
  return static_cast<int>(result);
}
