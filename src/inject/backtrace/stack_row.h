// How to get from a place in the code to its caller, in one word: what UnwindRow says for the three
// registers that a walk needs.
#pragma once

#include <cstdint>

#include "native/unwind_row.h"

namespace batchlight::inject::backtrace {

struct StackRow {
  enum Kind : uint64_t {
    kUnknown,    // no tables, or what they say does not fit: the walk ends
    kOutermost,  // there is no caller
    // Where the frame begins (CFA):
    kByStackPointer,
    kByFramePointer,
    kAtFramePointer,  // the word there: frames that were aligned
  };
  enum FramePointer : uint64_t { kKept, kSavedBesideFrame, kSavedBesideFramePointer };

  Kind kind : 3 = kUnknown;
  FramePointer frame_pointer : 2 = kKept;
  uint64_t is_code : 1 = 0;      // some module's
  uint64_t is_recorder : 1 = 0;  // code of this library or of CUPTI
  // Distances in words of 8 bytes, as two's complement.
  uint64_t frame : 20 = 0;           // of the frame, from what `kind` names
  uint64_t return_address : 19 = 0;  // where it is saved, from the frame
  uint64_t pointer : 18 = 0;         // where the frame pointer is saved

  // The same in bytes, to be added modulo 2^64.
  uintptr_t frame_bytes() const { return Bytes(frame, 20); }
  uintptr_t return_bytes() const { return Bytes(return_address, 19); }
  uintptr_t pointer_bytes() const { return Bytes(pointer, 18); }

 private:
  static uintptr_t Bytes(uint64_t words, int bits) {
    return static_cast<uintptr_t>(static_cast<int64_t>(words << (64 - bits)) >> (64 - bits)) * 8;
  }
};
static_assert(sizeof(StackRow) == sizeof(uint64_t));

// kUnknown if it does not fit.
StackRow Shorten(const native::UnwindRow& row);

}  // namespace batchlight::inject::backtrace
