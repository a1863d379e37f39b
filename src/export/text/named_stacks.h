// Stacks with names and a time or bytes, as flame graphs have them: by samples, native or of
// Python; of long calls of CUDA and of the C library; of memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "export/exporter.h"

namespace batchlight {

struct NamedFrame {
  std::string name;
  PythonFrameId python = {};  // None: native, or no function
};

// The stack of a thread, outermost first.
struct NamedStack {
  ThreadId thread;
  std::vector<NamedFrame> frames;
  int64_t value = 0;  // ns, or bytes: IsOfBytes()
};
// By thread.
using NamedStacks = std::vector<NamedStack>;

// Errors: nothing of the kind was recorded; the message says how to.
Result<NamedStacks> StacksOf(const Store& store, const ExportOptions& options);

}  // namespace batchlight
