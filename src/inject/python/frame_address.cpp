#include "inject/python/frame_address.h"

#include <pthread.h>

#include "cpython/process_frames.h"
#include "inject/buffer/disk_space.h"
#include "inject/rt/control.h"
#include "inject/rt/process.h"
#include "inject/rt/sys.h"
#include "inject/rt/text.h"

namespace batchlight::inject {
namespace {

using cpython::ProcessFrames;

constexpr uint32_t kMostOfThreadState = 384;  // the handle lies before that in 3.8 to 3.14
constexpr uint32_t kMostOfHandle = 1024;      // glibc's struct pthread: at 720 on x86-64

stacks::FrameSource g_source;  // layout: nullptr before PublishFrames()
ProcessFrames g_frames;

// The offset of a number in memory, which has it once where it is looked for; 0: nowhere.
template <typename T>
uint32_t FindNumber(const void* memory, T number, uint32_t begin, uint32_t end) {
  for (uint32_t offset = begin; offset < end; offset += sizeof number) {
    if (cpython::Load<T>(memory, offset) == number) return offset;
  }
  return 0;
}

bool WriteFrames() {
  char path[64];
  Text name(path, sizeof path);
  name.Add(uint64_t{g_process.pid}).Add("-").Add(static_cast<uint64_t>(g_process.attach_ns));
  name.Add(cpython::kFramesSuffix);
  const int folder = OpenSessionDir();
  if (folder < 0) return false;
  const int fd = LeavesFiles(folder)
                     ? sys::OpenAt(folder, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600)
                     : -1;
  sys::Close(folder);
  if (fd < 0) return false;
  const long wrote = sys::Call(SYS_write, fd, &g_frames, sizeof g_frames);
  sys::Close(fd);
  return wrote == static_cast<long>(sizeof g_frames);
}

void FillThread(const void* state) {
  g_frames.magic = cpython::kFramesMagic;
  g_frames.bytes = sizeof g_frames;
  g_frames.pid = g_process.pid;
  g_frames.tid = static_cast<uint32_t>(sys::Tid());
  g_frames.attach_ns = g_process.attach_ns;
  g_frames.thread_state = reinterpret_cast<uint64_t>(state);
}

}  // namespace

const char* PublishFrames(const stacks::FrameSource& source) {
  const void* state = source.thread_state();
  const auto handle = reinterpret_cast<const void*>(pthread_self());
  g_frames.thread_handle =
      FindNumber(state, reinterpret_cast<uint64_t>(handle), 16, kMostOfThreadState);
  const auto tid = static_cast<uint32_t>(sys::Tid());
  g_frames.handle_tid = FindNumber(handle, tid, 64, kMostOfHandle);
  if (g_frames.thread_handle == 0) return "this Python does not keep the handles of its threads";
  // From 3.11 on, behind the handle.
  const uint32_t after = g_frames.thread_handle + sizeof handle;
  g_frames.thread_tid = cpython::Load<uint64_t>(state, after) == tid ? after : 0;
  if (g_frames.thread_tid == 0 && g_frames.handle_tid == 0) {
    return "neither Python nor the C library tells the numbers of threads";
  }
  FillThread(state);
  g_frames.code_type = reinterpret_cast<uint64_t>(source.code_type);
  g_frames.gil_switch = cpython::GilSwitchOf(source.runtime, state);
  g_frames.layout = *source.layout;
  if (!WriteFrames()) return "the recording's folder takes no file";
  g_source = source;
  return nullptr;
}

void PublishFramesAfterFork() {
  if (g_source.layout == nullptr) return;
  const void* state = g_source.thread_state();
  if (state == nullptr) return;
  FillThread(state);
  (void)WriteFrames();
}

}  // namespace batchlight::inject
