// Whether the program copies the same numbers to the GPU again and again: features, graphs and
// targets that never change. Large copies from the CPU are kept by address and size, and of the
// first that come from a known place some numbers are looked at; each that comes again unchanged is
// a repeat. What is copied once, as weights, is left alone: they may lie in a file that is mapped,
// which a look would read page by page. Tensors are not known here, and none is held: what a copy's
// call is given is all that is read.
//
// Property copies.repeated, a line for each source that came again: how often, the copies of as
// many bytes that were looked at or new, bytes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "inject/cupti/abi.h"
#include "inject/cupti/library.h"
#include "inject/cupti/options.h"

namespace batchlight::inject::cupti {

// Known sources of copies. Not for several threads at a time.
class CopySources {
 public:
  static constexpr uint32_t kMost = 64;

  bool Has(const void* from, uint64_t bytes) const;
  // `sample`: of the numbers; 0: not looked at. Returns how many repeats there were in all if this
  // is one, else 0.
  uint32_t Take(const void* from, uint64_t bytes, uint64_t sample);
  // Writes the property's text, ended by NUL: as many whole lines as there is room for.
  void Tell(char* text, size_t room) const;

 private:
  struct Source {
    const void* from = nullptr;
    uint64_t bytes = 0;
    uint64_t sample = 0;
    uint32_t copies_of_size = 0;  // since it is known: of forgotten sources, too
    uint32_t repeats = 0;
    uint32_t last = 0;  // copy, of all
  };
  // Counts a copy of so many bytes.
  Source& SourceOf(const void* from, uint64_t bytes);

  Source sources_[kMost] = {};
  uint32_t copies_ = 0;
  uint32_t repeats_ = 0;
};

// Some hundred numbers of that memory as one, 0: it cannot be read, or all of them are the same
// (a mask of ones in a new tensor at the same address is no repeat).
uint64_t SampleOfMemory(const void* from, uint64_t bytes);

void EnableCopyCallbacks(const Library& library, void* subscriber, const Options& options);

// From CUPTI's callback, before and after the call.
void OnCopyCall(uint32_t domain, uint32_t cbid, const CallbackData& data);

}  // namespace batchlight::inject::cupti
