// The Python threads of a running process, and the frames that each of them has at this moment.
//
// The process runs on meanwhile: callers far out stay as they are, the innermost frames may be
// those of two moments a few microseconds apart. What is no frame any more is noticed by its type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "capture/python/target_memory.h"
#include "cpython/process_frames.h"

namespace batchlight::capture {

struct PythonThread {
  uint32_t tid = 0;
  uint64_t state = 0;      // address of its PyThreadState
  uint64_t innermost = 0;  // address of its frame; 0: it runs no Python, or
  bool enters = false;     // is about to, from C, and its frame is not known yet
};

struct PythonFrame {
  uint64_t code = 0;   // address of the code object
  uint64_t place = 0;  // FrameLayout::frame_place
  friend bool operator==(const PythonFrame&, const PythonFrame&) = default;
};

// How much is copied of each. Behind it nothing is read, whatever the offsets say.
inline constexpr size_t kThreadStateBytes = 448;
inline constexpr size_t kCodeBytes = 160;  // up to its line table

class FrameReader {
 public:
  // Whether the offsets lie within what is copied. The program wrote them: they may be anything.
  static bool CanRead(const cpython::ProcessFrames& where);

  explicit FrameReader(const cpython::ProcessFrames& where) : where_(where), memory_(where.pid) {}

  // False with errno: the process is gone, or its memory cannot be read.
  bool ReadThreads(std::vector<PythonThread>& threads);
  // Where a thread of ReadThreads() is by now. False: it has ended.
  bool ReadAgain(PythonThread& thread);
  // The frame itself, without its callers. False: it is none any more.
  bool ReadInnermost(uint64_t address, PythonFrame& frame);
  // All of them, innermost first, right after ReadInnermost(): what that copied is as it was.
  // `outermost`: the address at which they end, which may be a frame of C; 0: behind those that are
  // read. False: on the way something was no frame.
  bool ReadFrames(uint64_t innermost, std::vector<PythonFrame>& frames, uint64_t& outermost);

  // Whether its threads share a GIL right now; those of a free-threaded interpreter need not.
  bool HasGil() const;

  const TargetMemory& memory() const { return memory_; }
  const cpython::FrameLayout& layout() const { return where_.layout; }
  uint64_t code_type() const { return where_.code_type; }

 private:
  bool ReadThread(uint64_t state, PythonThread& thread, uint64_t& newer, uint64_t& older);
  uint32_t TidOf(const uint8_t* state);
  void FindInnermost(const uint8_t* state, PythonThread& thread);

  const cpython::ProcessFrames where_;
  TargetMemory memory_;
};

}  // namespace batchlight::capture
