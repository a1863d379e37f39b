// The modules that Python imported, as a tree: each inside the one that asked for it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "store/store.h"

namespace batchlight {

// An import, or the build of a part of the recorder, which PyTorch's import waits for once: a row
// of its own, and no part of the totals around it.
struct Import {
  ThreadId thread;
  StringId module;
  StringId file;                    // None: built in, or not recorded
  std::vector<StringId> libraries;  // shared ones that came with it and are not its file
  uint32_t depth = 0;               // imports around it
  bool is_recorder = false;         // that build, and what it imports for itself
  int64_t start_ns = 0;
  int64_t total_ns = 0;
  int64_t self_ns = 0;       // without the imports inside
  int64_t cuda_ns = 0;       // of that total, in calls of CUDA
  uint64_t bytes = 0;        // of its file and libraries; what is unknown counts nothing
  uint64_t total_bytes = 0;  // with those of the imports inside
};

// By thread and start: those inside an import follow it.
std::vector<Import> FindImports(const Store& store);

}  // namespace batchlight
