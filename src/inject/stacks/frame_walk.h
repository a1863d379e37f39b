// The frames of the calling thread, read raw while it is inside a C function: nothing can move or
// free them, whoever holds the GIL.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cpython/frame_layout.h"

namespace batchlight::inject::stacks {

using cpython::FrameLayout;
using cpython::Load;

inline constexpr size_t kMaxFrames = 512;  // callers beyond are not recorded

struct RawFrame {
  const void* code;
  uint64_t place;     // of the instruction, as the frame has it
  uint64_t identity;  // tells apart code objects that had the same address
};

struct RawStack {
  RawFrame frames[kMaxFrames];  // innermost first
  size_t count;
  bool is_cut;  // there are more
  uint64_t hash;
};

// How frames are found in this process.
struct FrameSource {
  const FrameLayout* layout;
  void* (*thread_state)();  // PyGILState_GetThisThreadState: nullptr on a thread without one
  const void* code_type;    // &PyCode_Type
  const void* runtime;      // &_PyRuntime; nullptr: not exported
};

inline const void* InnermostFrame(const FrameSource& source, const void* thread_state) {
  const FrameLayout& layout = *source.layout;
  const auto* frame = Load<const void*>(thread_state, layout.thread_frame);
  if (layout.has_c_frame && frame != nullptr) {
    frame = Load<const void*>(frame, layout.c_frame_frame);
  }
  while (frame != nullptr && layout.frame_owner != 0 &&
         Load<uint8_t>(frame, layout.frame_owner) >= layout.owner_is_c) {
    frame = Load<const void*>(frame, layout.frame_back);
  }
  return frame;
}

inline uint64_t PlaceOf(const FrameLayout& layout, const void* frame) {
  return layout.place_is_pointer ? Load<uint64_t>(frame, layout.frame_place)
                                 : Load<uint32_t>(frame, layout.frame_place);
}

// False: something is not as the layout says.
bool WalkFrames(const FrameSource& source, const void* innermost, RawStack& stack);

// Line that a frame has reached; 0: none.
uint32_t LineOf(const FrameLayout& layout, const RawFrame& frame);

}  // namespace batchlight::inject::stacks
