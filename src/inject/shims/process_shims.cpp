// Making processes and threads, and waiting for them.
#include "inject/shims/shim.h"

using namespace batchlight::inject::shims;

// The child has begun anew (fork handlers), and was in no call of its own.
SHIM(pid_t, fork) {
  if (!On()) return CallNext<OsCall::k_fork, pid_t>();
  const uint64_t begin = Now();
  const auto child = CallNext<OsCall::k_fork, pid_t>();
  if (child != 0) g_api->done(OsCall::k_fork, begin, child);
  return child;
}

SHIM(pid_t, wait, int* status) { return Timed<OsCall::k_wait, pid_t>(status); }
SHIM(pid_t, waitpid, pid_t pid, int* status, int options) {
  return Timed<OsCall::k_waitpid, pid_t>(pid, status, options);
}
SHIM(pid_t, wait3, int* status, int options, void* usage) {
  return Timed<OsCall::k_wait3, pid_t>(status, options, usage);
}
SHIM(pid_t, wait4, pid_t pid, int* status, int options, void* usage) {
  return Timed<OsCall::k_wait4, pid_t>(pid, status, options, usage);
}
SHIM(int, waitid, int type, unsigned id, void* info, int options) {
  return Timed<OsCall::k_waitid, int>(type, id, info, options);
}
SHIM(int, system, const char* command) { return Timed<OsCall::k_system, int>(command); }
SHIM(void*, popen, const char* command, const char* mode) {
  return Timed<OsCall::k_popen, void*>(command, mode);
}
SHIM(int, pclose, void* file) { return Timed<OsCall::k_pclose, int>(file); }
SHIM(int, posix_spawn, pid_t* pid, const char* path, const void* actions, const void* attributes,
     char* const* arguments, char* const* environment) {
  return Timed<OsCall::k_posix_spawn, int>(pid, path, actions, attributes, arguments, environment);
}
SHIM(int, posix_spawnp, pid_t* pid, const char* file, const void* actions, const void* attributes,
     char* const* arguments, char* const* environment) {
  return Timed<OsCall::k_posix_spawnp, int>(pid, file, actions, attributes, arguments, environment);
}
SHIM(int, pthread_create, void* thread, const void* attributes, void* (*start)(void*),
     void* argument) {
  return Timed<OsCall::k_pthread_create, int>(thread, attributes, start, argument);
}
