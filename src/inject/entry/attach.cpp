#include "inject/entry/attach.h"

#include <cstdlib>

#include "inject/backtrace/thread_backtraces.h"
#include "inject/buffer/chunk_file.h"
#include "inject/buffer/fork.h"
#include "inject/buffer/process_start.h"
#include "inject/buffer/thread_stream.h"
#include "inject/collect/capture.h"
#include "inject/collect/loop_follower.h"
#include "inject/collect/operator_levels.h"
#include "inject/collect/step_board.h"
#include "inject/entry/calibrate.h"
#include "inject/entry/interpose.h"
#include "inject/memory/memory_recorder.h"
#include "inject/nvtx/levels.h"
#include "inject/osrt/open_files.h"
#include "inject/osrt/os_recorder.h"
#include "inject/python/call_recorder.h"
#include "inject/python/frame_address.h"
#include "inject/python/interpreter_hook.h"
#include "inject/rt/clock.h"
#include "inject/rt/control.h"
#include "inject/rt/cut_files.h"
#include "inject/rt/fork_handler.h"
#include "inject/rt/process.h"
#include "inject/rt/thread_exit.h"
#include "inject/stacks/thread_stacks.h"

namespace batchlight::inject {
namespace {

void AtFork() {
  void* parents_stream = t_thread.stream;
  StartOverAfterFork();
  osrt::ForgetOpenFiles();
  PublishFramesAfterFork();
  if (parents_stream != nullptr) sys::Unmap(parents_stream, format::kPageBytes);
}

void AtThreadExit() {
  LeaveForGood();  // it may have been cancelled inside
  nvtx::ReleaseLevels();
  ReleaseCalls();
  osrt::ReleaseOsCalls();
  ReleasePhases();
  memory::ReleaseMemory();
  stacks::ReleaseThread();
  backtrace::ReleaseThread();
  Guard guard;
  if (guard) ThreadStream::CloseCurrent(guard);
}

void AtExit(int status, void*) {
  Guard guard;
  if (!guard) return;
  SayIfPythonCameLate(guard);
  RecordExit(guard, status, ExitHow::kExit);
}

void AttachNow() {
  FindInterposed();
  FindInterposedWaits();
  FindInterposedUsers();
  FindInterposedSession();
  Guard guard;
  sys::ErrnoSaver errno_saver;
  if (!MapControlPage()) return;
  ChooseClock();
  IdentifyProcess(false);
  SurviveCutFiles();
  ReadLoopOptions();
  ReadOperatorLevels();
  osrt::PrepareOsCalls();
  memory::PrepareMemory();
  g_on_capture_begun = CalibrateOnce;
  NoteRank(guard);
  g_left_inside = {ThreadStream::Progress, ThreadStream::Abandon};
  PrepareThreadExit(AtThreadExit);
  WatchForks();
  OnForkInChild(AtFork);
  if (on_exit != nullptr) on_exit(AtExit, nullptr);
  InstallInterpreterHook(guard);
  // A process that never records an event is shown all the same.
  if (Collecting()) {
    if (ThreadStream* stream = ThreadStream::Current(guard)) stream->WriteFacts();
  }
}

// When preloaded: before main, so that the process is seen even if it records nothing.
__attribute__((constructor)) void AttachAtLoad() { Attach(); }

}  // namespace

bool Attach() {
  static bool tried = false;  // no race: the loader runs the constructor before anyone can call
  if (!tried) {
    tried = true;
    AttachNow();
    if (Collecting()) CalibrateOnce();
  }
  return Control() != nullptr;
}

void RecordExit(const Guard& guard, int status, ExitHow how) {
  if (Control() == nullptr || (!HasProcessFile() && !Collecting())) return;
  SayForChild(guard);
  osrt::SayOpenFiles(guard);
  CountOpenCalls();
  ThreadStream* stream = ThreadStream::Current(guard);
  if (stream == nullptr) return;
  WriteClockSync(*stream);
  if (stream->Ensure(sizeof(format::ProcessExitRecord))) {
    stream->Write(
        format::ProcessExitRecord{.status = status & 0xff, .how = static_cast<uint32_t>(how)});
  }
  if (how != ExitHow::kExec) stream->Seal();
}

}  // namespace batchlight::inject
