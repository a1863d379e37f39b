// setsid: fails in the leader of a process group, which the program is by our doing alone where the
// tool was started by a script: without us it would be in the script's group. There it goes first.
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>

#include "inject/entry/export.h"
#include "inject/entry/interpose.h"
#include "inject/entry/next_function.h"
#include "inject/rt/control.h"
#include "inject/rt/sys.h"

namespace batchlight::inject {
namespace {

using SetsidFunction = pid_t();

SetsidFunction* g_next_setsid = nullptr;

pid_t CallSetsid() {
  return g_next_setsid != nullptr ? g_next_setsid() : static_cast<pid_t>(::syscall(SYS_setsid));
}

// The group that the program was taken out of; 0 for every other process, also one that the tool
// has become the parent of.
long GroupOfTheTool() {
  const format::ControlPage* control = Control();
  const bool is_program =
      control != nullptr && static_cast<long>(control->program_pid) == sys::Call(SYS_getpid);
  return is_program ? control->tool_group : 0;
}

}  // namespace

void FindInterposedSession() { FindNext("setsid", &g_next_setsid); }

}  // namespace batchlight::inject

using namespace batchlight::inject;

BATCHLIGHT_EXPORT pid_t setsid() noexcept {
  const pid_t session = CallSetsid();
  if (session >= 0 || errno != EPERM) return session;
  const long group = GroupOfTheTool();
  if (group == 0 || sys::Call(SYS_setpgid, 0, group) != 0) return session;
  const pid_t again = CallSetsid();
  if (again < 0) sys::Call(SYS_setpgid, 0, 0);  // it has children in the group, which stays
  return again;
}
