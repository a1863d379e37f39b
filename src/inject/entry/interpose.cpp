// The calls by which a process ends without running exit handlers: _exit (os._exit of Python) and
// exec. Each notes that in the recording and calls the definition that would have been called
// without us. In a child of vfork, which shares our memory, nothing is written.
#include "inject/entry/interpose.h"

#include <unistd.h>

#include <cstring>

#include "inject/buffer/facts.h"
#include "inject/buffer/thread_stream.h"
#if BATCHLIGHT_GPU
#include "inject/cupti/collector.h"
#endif
#include "inject/entry/attach.h"
#include "inject/entry/exec_target.h"
#include "inject/entry/export.h"
#include "inject/entry/listing.h"
#include "inject/entry/next_function.h"
#include "inject/osrt/os_recorder.h"
#include "inject/rt/control.h"
#include "inject/rt/process.h"
#include "inject/rt/text.h"

namespace batchlight::inject {
namespace {

using ExitFunction = void(int);
using ExecveFunction = int(const char*, char* const[], char* const[]);
using ExecvFunction = int(const char*, char* const[]);

ExitFunction* g_next_exit = nullptr;
ExitFunction* g_next_quick_exit = nullptr;
ExecveFunction* g_next_execve = nullptr;
ExecvFunction* g_next_execv = nullptr;

bool InOwnProcess() {
  return Control() != nullptr && static_cast<uint32_t>(sys::Pid()) == g_process.pid;
}

void BeforeExit(int status) {
  if (t_thread.inside == kConfined || !InOwnProcess()) return;
#if BATCHLIGHT_GPU
  cupti::Flush(true, cupti::kExitTimeoutMs);
#endif
  Guard guard;
  if (guard) RecordExit(guard, status, ExitHow::kQuickExit);
}

[[noreturn]] void EndProcess(int status) {
  for (;;) sys::Call(SYS_exit_group, status);
}

// What is to be said of programs that will not join the session. A child of vfork leaves it here,
// in its parent's memory: one program at a time, the last.
char g_unsaid[512];

void NoteTarget(const char* path) {
  const char* why = Control() != nullptr && Collecting() ? WhyNotRecorded(path) : nullptr;
  if (why == nullptr) return;
  Text(g_unsaid, sizeof g_unsaid).Add(path, strnlen(path, sizeof g_unsaid - 128)).Add(why);
}

// execv is execve with the process's own environment, for whoever else stands in front of it too.
struct Exec {
  const char* path;
  char* const* arguments;
  char* const* environment;
  bool is_execv = false;
};

int Call(const Exec& exec) {
  if (exec.is_execv && g_next_execv != nullptr) return g_next_execv(exec.path, exec.arguments);
  if (g_next_execve != nullptr) return g_next_execve(exec.path, exec.arguments, exec.environment);
  return static_cast<int>(::syscall(SYS_execve, exec.path, exec.arguments, exec.environment));
}

[[gnu::cold, gnu::noinline]] int CallListing(const Exec& exec, size_t variables) {
  auto** copy = static_cast<char**>(__builtin_alloca((variables + 1) * sizeof(char*)));
  char preload[kPreloadBytes];
  LeaveOurLibrariesOut(exec.environment, copy, preload);
  return Call({.path = exec.path, .arguments = exec.arguments, .environment = copy});
}

int CallExec(const Exec& exec) {
  const size_t listed = VariablesOfListing(exec.environment);
  return listed != 0 ? CallListing(exec, listed) : Call(exec);
}

// Writes that an exec happens, runs it, and takes the record back should it return.
int RunExec(const Exec& exec) {
  NoteTarget(exec.path);
  if (!InOwnProcess()) return CallExec(exec);
  Guard guard;
  if (guard) SayForChild(guard);
  if (guard) osrt::SayOpenFiles(guard);
  ThreadStream* stream = guard && HasProcessFile() ? ThreadStream::Current(guard) : nullptr;
  if (stream == nullptr || !stream->Ensure(sizeof(format::ProcessExitRecord))) {
    return CallExec(exec);
  }
  stream->Write(
      format::ProcessExitRecord{.status = 0, .how = static_cast<uint32_t>(ExitHow::kExec)});
  const int result = CallExec(exec);
  stream->Rewind(sizeof(format::ProcessExitRecord));
  return result;
}

}  // namespace

void SayForChild(const Guard& guard) {
  if (g_unsaid[0] == 0) return;
  Reason(guard, "processes", g_unsaid);
  g_unsaid[0] = 0;
}

void FindInterposed() {
  FindNext("_exit", &g_next_exit);
  FindNext("_Exit", &g_next_quick_exit);
  FindNext("execve", &g_next_execve);
  FindNext("execv", &g_next_execv);
}

}  // namespace batchlight::inject

using namespace batchlight::inject;

// FindInterposed() runs before the program does, but a constructor of another preloaded library may
// run earlier still, hence the direct calls.
BATCHLIGHT_EXPORT void _exit(int status) {
  BeforeExit(status);
  if (g_next_exit != nullptr) g_next_exit(status);
  EndProcess(status);
}

BATCHLIGHT_EXPORT void _Exit(int status) noexcept {
  BeforeExit(status);
  if (g_next_quick_exit != nullptr) g_next_quick_exit(status);
  EndProcess(status);
}

BATCHLIGHT_EXPORT int execve(const char* path, char* const arguments[],
                             char* const environment[]) noexcept {
  return RunExec({.path = path, .arguments = arguments, .environment = environment});
}

BATCHLIGHT_EXPORT int execv(const char* path, char* const arguments[]) noexcept {
  return RunExec(
      {.path = path, .arguments = arguments, .environment = ::environ, .is_execv = true});
}
