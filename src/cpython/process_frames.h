// LIVE_FOLDER/PID-ATTACH.frames: where a process keeps the frames of its Python threads, for a tool
// that reads its memory from outside. Written whole, once a process, by its library; both are of
// one build.
#pragma once

#include <cstdint>

#include "cpython/frame_layout.h"

namespace batchlight::cpython {

inline constexpr char kFramesSuffix[] = ".frames";
inline constexpr uint64_t kFramesMagic = 0x31454d4152464c42;  // "BLFRAME1"

struct ProcessFrames {
  uint64_t magic;
  uint32_t bytes;  // sizeof(ProcessFrames)
  uint32_t pid;
  uint32_t tid;            // of the thread that wrote it
  uint32_t thread_handle;  // offset in a thread state: the thread's pthread_t
  uint32_t thread_tid;     // offset in a thread state: its tid; 0 = has none, before 3.11
  uint32_t handle_tid;     // offset in what a pthread_t points to: its tid
  int64_t attach_ns;       // CLOCK_MONOTONIC: of two of one pid, the later holds
  uint64_t thread_state;   // of `tid`; it lives as long as the interpreter
  uint64_t code_type;      // &PyCode_Type
  uint64_t gil_switch;     // GilSwitchOf()
  FrameLayout layout;
};

// Neighbours of a thread state in its interpreter's list, whose head is the newest: the first two
// members of PyThreadState from 3.8 to 3.14.
inline constexpr uint32_t kNewerThread = 0;
inline constexpr uint32_t kOlderThread = 8;

}  // namespace batchlight::cpython
