// The program and the libraries that are loaded into this process: where their code lies, their
// unwind tables, what they are called. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "native/unwind_tables.h"

namespace batchlight::inject::backtrace {

struct LoadedModule {
  uintptr_t load_bias = 0;         // address in memory - address as the file counts
  const char* path = nullptr;      // absolute, or [vdso]
  const char* build_id = nullptr;  // nullptr: it has none
  uint32_t build_id_bytes = 0;
  bool is_recorder = false;       // this library, its shims, CUPTI
  native::Stretch header;         // .eh_frame_hdr, as the file counts; empty: no unwind tables
  native::Stretch table_segment;  // with .eh_frame
};

class LoadedModules {
 public:
  // Looks at what is loaded now, if that has changed: before anything is asked, for what was
  // unloaded must not be read. Not in a forked child: another thread may have held the dynamic
  // linker's lock.
  void Refresh();
  // The module with code at `pc`. nullptr: code of no module, or of one too many.
  const LoadedModule* Find(uintptr_t pc) const;
  // Keeps its value while nothing is unloaded.
  uint32_t IndexOf(const LoadedModule& module) const {
    return static_cast<uint32_t>(&module - modules_);
  }
  // Changes once something was unloaded: what was known of addresses and indexes is void.
  uint32_t generation() const { return generation_; }

  static constexpr size_t kMost = 4096;

 private:
  struct Code {
    uintptr_t begin;
    uintptr_t end;
    uint32_t module;
  };
  friend struct ModuleReader;

  bool Map();

  LoadedModule* modules_ = nullptr;
  Code* code_ = nullptr;  // by address
  char* names_ = nullptr;
  size_t module_count_ = 0;
  size_t code_count_ = 0;
  size_t name_bytes_ = 0;
  uint32_t generation_ = 0;
  // The dynamic linker's counts when it was last asked.
  unsigned long long loaded_ = 0;
  unsigned long long unloaded_ = 0;
};

}  // namespace batchlight::inject::backtrace
