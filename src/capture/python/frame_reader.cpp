#include "capture/python/frame_reader.h"

#include <algorithm>
#include <array>

namespace batchlight::capture {
namespace {

using cpython::Load;

constexpr size_t kMostThreads = 4096;
constexpr uint64_t kNearState =
    4096;                            // bytes behind the start of a thread state: no stack is there
constexpr size_t kMostFrames = 512;  // callers beyond are left out

size_t FrameBytes(const cpython::FrameLayout& layout) {
  return std::max({layout.frame_code, layout.frame_back, layout.frame_place, layout.frame_owner}) +
         sizeof(uint64_t);
}

bool IsWithin(size_t offset, size_t wide, size_t bytes) { return offset + wide <= bytes; }

bool CanReadThread(const cpython::ProcessFrames& where) {
  constexpr size_t kWord = sizeof(uint64_t);
  return IsWithin(where.layout.thread_frame, kWord, kThreadStateBytes) &&
         IsWithin(where.thread_tid, kWord, kThreadStateBytes) &&
         IsWithin(where.thread_handle, kWord, kThreadStateBytes);
}

bool CanReadCode(const cpython::FrameLayout& layout) {
  constexpr size_t kWord = sizeof(uint64_t);
  return IsWithin(layout.object_type, kWord, kCodeBytes) &&
         IsWithin(layout.code_file, kWord, kCodeBytes) &&
         IsWithin(layout.code_name, kWord, kCodeBytes) &&
         IsWithin(layout.code_table, kWord, kCodeBytes) &&
         IsWithin(layout.code_first_line, sizeof(uint32_t), kCodeBytes);
}

// Of a text a word behind compact_data is copied, and its characters behind that.
bool CanReadText(const cpython::FrameLayout& layout) {
  constexpr size_t kWord = sizeof(uint64_t);
  const size_t head = layout.compact_data + kWord;
  return IsWithin(layout.text_length, kWord, head) &&
         IsWithin(layout.text_state, sizeof(uint32_t), head) &&
         IsWithin(layout.ascii_data, 0, head);
}

PythonFrame FrameOf(const cpython::FrameLayout& layout, const uint8_t* frame) {
  return {.code = cpython::CodeOf(layout, frame),
          .place = layout.place_is_pointer ? Load<uint64_t>(frame, layout.frame_place)
                                           : Load<uint32_t>(frame, layout.frame_place)};
}

}  // namespace

bool FrameReader::CanRead(const cpython::ProcessFrames& where) {
  return CanReadThread(where) && CanReadCode(where.layout) && CanReadText(where.layout);
}

bool FrameReader::ReadThreads(std::vector<PythonThread>& threads) {
  threads.clear();
  PythonThread thread;
  uint64_t newer = 0, older = 0, unused = 0;
  if (!ReadThread(where_.thread_state, thread, newer, older)) return false;
  thread.tid = where_.tid;  // as what Python has of it may be its parent's, after a fork
  threads.push_back(thread);
  // A link that is broken by now ends its side of the list.
  while (newer != 0 && threads.size() < kMostThreads) {
    if (!ReadThread(newer, thread, newer, unused)) break;
    threads.push_back(thread);
  }
  while (older != 0 && threads.size() < kMostThreads) {
    if (!ReadThread(older, thread, unused, older)) break;
    threads.push_back(thread);
  }
  return true;
}

bool FrameReader::ReadThread(uint64_t state, PythonThread& thread, uint64_t& newer,
                             uint64_t& older) {
  std::array<uint8_t, kThreadStateBytes> copy;
  if (!memory_.Read(state, copy.data(), copy.size())) return false;
  newer = Load<uint64_t>(copy.data(), cpython::kNewerThread);
  older = Load<uint64_t>(copy.data(), cpython::kOlderThread);
  thread.tid = TidOf(copy.data());
  thread.state = state;
  FindInnermost(copy.data(), thread);
  return true;
}

bool FrameReader::ReadAgain(PythonThread& thread) {
  PythonThread now;
  uint64_t newer = 0, older = 0;
  if (!ReadThread(thread.state, now, newer, older)) return false;
  thread.innermost = now.innermost;
  thread.enters = now.enters;
  return true;
}

uint32_t FrameReader::TidOf(const uint8_t* state) {
  if (where_.thread_tid != 0) {
    return static_cast<uint32_t>(Load<uint64_t>(state, where_.thread_tid));
  }
  uint32_t tid = 0;
  const auto handle = Load<uint64_t>(state, where_.thread_handle);
  return memory_.Read(handle + where_.handle_tid, &tid, sizeof tid) ? tid : 0;
}

void FrameReader::FindInnermost(const uint8_t* state, PythonThread& thread) {
  const auto frame = Load<uint64_t>(state, where_.layout.thread_frame);
  thread.innermost = frame;
  thread.enters = false;
  if (!where_.layout.has_c_frame || frame == 0) return;
  uint64_t inner = 0;
  const bool is_read = memory_.Read(frame + where_.layout.c_frame_frame, &inner, sizeof inner);
  thread.innermost = is_read ? inner : 0;
  // The outermost frame of C lies in the thread state, those of calls on the thread's stack.
  thread.enters = thread.innermost == 0 && frame - thread.state >= kNearState;
}

bool FrameReader::HasGil() const {
  if (where_.gil_switch == 0) return true;
  int32_t enabled = 0;
  return memory_.Read(where_.gil_switch, &enabled, sizeof enabled) && enabled != 0;
}

bool FrameReader::ReadInnermost(uint64_t address, PythonFrame& frame) {
  memory_.Forget();
  const cpython::FrameLayout& layout = where_.layout;
  const uint8_t* copy = memory_.Near(address, FrameBytes(layout));
  if (copy == nullptr) return false;
  frame = FrameOf(layout, copy);
  return true;
}

bool FrameReader::ReadFrames(uint64_t innermost, std::vector<PythonFrame>& frames,
                             uint64_t& outermost) {
  frames.clear();
  outermost = 0;
  const cpython::FrameLayout& layout = where_.layout;
  for (uint64_t address = innermost; address != 0 && frames.size() < kMostFrames;) {
    const uint8_t* copy = memory_.Near(address, FrameBytes(layout));
    if (copy == nullptr) return false;
    const bool is_c =
        layout.frame_owner != 0 && Load<uint8_t>(copy, layout.frame_owner) >= layout.owner_is_c;
    if (!is_c) frames.push_back(FrameOf(layout, copy));
    outermost = address;
    address = Load<uint64_t>(copy, layout.frame_back);
  }
  if (frames.size() == kMostFrames) outermost = 0;
  return true;
}

}  // namespace batchlight::capture
