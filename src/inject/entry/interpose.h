// Interposed functions of the C library: _exit, _Exit, execve, execv; wait and its like; setuid and
// its like; setsid.
#pragma once

#include "inject/rt/guard.h"

namespace batchlight::inject {

// Looks up the definitions that ours override. Once, at attach.
void FindInterposed();
void FindInterposedWaits();
void FindInterposedUsers();
void FindInterposedSession();

// What a child of vfork, which writes nothing itself, has left to be said.
void SayForChild(const Guard& guard);

}  // namespace batchlight::inject
