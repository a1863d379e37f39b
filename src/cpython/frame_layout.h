// Where CPython keeps what a stack is made of, version by version. Read raw: none of its functions
// may be called where an operator starts, as the thread need not hold the GIL.
#pragma once

#include <cstdint>

namespace batchlight::cpython {

// How a code object tells the line of an instruction.
enum class LineTableKind : uint8_t {
  kPairs,      // co_lnotab, to 3.9
  kSpans,      // co_linetable of 3.10
  kLocations,  // co_linetable from 3.11
};

// Offsets in bytes.
struct FrameLayout {
  uint16_t object_type;   // PyObject::ob_type, of every object
  uint16_t object_size;   // PyVarObject::ob_size, of a bytes object
  uint16_t thread_frame;  // of a thread state: its innermost frame, or its C frame
  bool has_c_frame;
  uint16_t c_frame_frame;
  uint16_t frame_code;
  uint16_t frame_back;
  uint16_t frame_place;  // the last instruction: a pointer, or an int of bytes or instructions
  bool place_is_pointer;
  uint8_t place_unit;        // bytes that the int counts
  uint16_t frame_owner;      // 0 = has none
  uint8_t owner_is_c;        // frames with this owner or a higher one stand for C code
  uint16_t object_frame;     // from Python's frame object to its frame; 0: it is the frame itself
  uint16_t frame_variables;  // the copy that f_locals made; 0: none is made (3.13)
  uint16_t code_first_line;
  uint16_t code_file;
  uint16_t code_name;
  uint16_t code_table;
  uint16_t code_bytecode;  // of pointers to instructions
  uint16_t bytes_data;
  uint16_t text_length;
  uint16_t text_state;
  uint16_t ascii_data;    // of a str of ASCII
  uint16_t compact_data;  // of any other
  LineTableKind table_kind;
};

// CPython 3.`minor`; nullptr: not known. `runtime`: _PyRuntime, which describes itself from 3.13
// on. `why` says why not.
const FrameLayout* FindFrameLayout(int minor, const void* runtime, const char** why);

// Whether `runtime` (_PyRuntime; nullptr: not exported) is that of a free-threaded build, of 3.13
// or later.
bool IsFreeThreaded(const void* runtime);

// The address of an int32_t that is 0 while a free-threaded interpreter runs without a GIL, which
// importing an extension may bring back: of the interpreter of `thread_state`. 0: it always has a
// GIL.
uint64_t GilSwitchOf(const void* runtime, const void* thread_state);

// Instructions are two bytes.
inline constexpr int kInstructionBytes = 2;

template <typename T>
T Load(const void* base, uint32_t offset) {
  T value;
  __builtin_memcpy(&value, static_cast<const char*>(base) + offset, sizeof value);
  return value;
}

// The code object that a frame runs: 3.14 marks in the lowest bits how the frame refers to it.
inline uint64_t CodeOf(const FrameLayout& layout, const void* frame) {
  constexpr uint64_t kMarks = 7;
  return Load<uint64_t>(frame, layout.frame_code) & ~kMarks;
}

}  // namespace batchlight::cpython
