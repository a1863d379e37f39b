// setuid and its kin: a process that becomes another user cannot open the recording any more, which
// is its first user's alone, and neither can what it starts (su, setpriv). That is said while it
// still can be.
#include <sys/types.h>
#include <unistd.h>

#include "inject/buffer/facts.h"
#include "inject/buffer/thread_stream.h"
#include "inject/entry/export.h"
#include "inject/entry/interpose.h"
#include "inject/entry/next_function.h"
#include "inject/rt/control.h"
#include "inject/rt/process.h"
#include "inject/rt/sys.h"
#include "inject/rt/text.h"

namespace batchlight::inject {
namespace {

using Set1 = int(uid_t);
using Set2 = int(uid_t, uid_t);
using Set3 = int(uid_t, uid_t, uid_t);

Set1* g_next_setuid = nullptr;
Set1* g_next_seteuid = nullptr;
Set2* g_next_setreuid = nullptr;
Set3* g_next_setresuid = nullptr;

constexpr uid_t kSame = static_cast<uid_t>(-1);

// Whoever is root can write anywhere.
bool MayWrite() {
  const auto user = static_cast<uint32_t>(sys::Call(SYS_geteuid));
  return user == 0 || user == SessionOwner();
}

// Room in the thread's chunk: the next one could not be opened.
bool MakeRoom() {
  if (Control() == nullptr || !Collecting() || !MayWrite()) return false;
  if (static_cast<uint32_t>(sys::Pid()) != g_process.pid) return false;  // a child of vfork
  Guard guard;
  ThreadStream* stream = guard ? ThreadStream::Current(guard) : nullptr;
  return stream != nullptr && stream->Ensure(1024);
}

void SayUser() {
  char buffer[256];
  Text text(buffer, sizeof buffer);
  text.Add("a process became user ").Add(static_cast<uint64_t>(sys::Call(SYS_geteuid)));
  text.Add(
      ": of it and of what it starts, little or nothing is recorded from there on, since the ");
  text.Add("recording belongs to user ").Add(uint64_t{SessionOwner()});
  text.Add("; start batchlight as that user, or with --run-as");
  Guard guard;
  if (guard) Reason(guard, "processes", buffer);
}

template <class Change>
int ChangeUser(Change change) {
  const bool can_say = MakeRoom();
  const int result = change();
  if (result == 0 && can_say && !MayWrite()) SayUser();
  return result;
}

}  // namespace

void FindInterposedUsers() {
  FindNext("setuid", &g_next_setuid);
  FindNext("seteuid", &g_next_seteuid);
  FindNext("setreuid", &g_next_setreuid);
  FindNext("setresuid", &g_next_setresuid);
}

}  // namespace batchlight::inject

using namespace batchlight::inject;

BATCHLIGHT_EXPORT int setuid(uid_t user) noexcept {
  return ChangeUser([=] {
    return g_next_setuid != nullptr ? g_next_setuid(user)
                                    : static_cast<int>(::syscall(SYS_setuid, user));
  });
}

BATCHLIGHT_EXPORT int seteuid(uid_t effective) noexcept {
  return ChangeUser([=] {
    return g_next_seteuid != nullptr
               ? g_next_seteuid(effective)
               : static_cast<int>(::syscall(SYS_setresuid, kSame, effective, kSame));
  });
}

BATCHLIGHT_EXPORT int setreuid(uid_t real, uid_t effective) noexcept {
  return ChangeUser([=] {
    return g_next_setreuid != nullptr ? g_next_setreuid(real, effective)
                                      : static_cast<int>(::syscall(SYS_setreuid, real, effective));
  });
}

BATCHLIGHT_EXPORT int setresuid(uid_t real, uid_t effective, uid_t saved) noexcept {
  return ChangeUser([=] {
    return g_next_setresuid != nullptr
               ? g_next_setresuid(real, effective, saved)
               : static_cast<int>(::syscall(SYS_setresuid, real, effective, saved));
  });
}
