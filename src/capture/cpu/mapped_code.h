// What is code in the memory of a process, as /proc tells of it: where the kernel does not tell of
// each file that is mapped.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "native/address_space.h"

namespace batchlight::capture {

// The lines of /proc/PID/maps.
native::AddressSpace ReadMaps(std::string_view text, native::Modules& modules);

class MappedCode {
 public:
  // `unloads` counts how often a program was about to unload a library, or had.
  MappedCode(native::Modules& modules, const std::atomic<uint32_t>& unloads)
      : modules_(modules), unloads_(unloads) {}

  // Where code was when `unloads` was that: of files that were there before and after if it was
  // not looked at in between. Read once; empty of a process that has not mapped the file of
  // samples. `image_ns` tells what a process executed from what it executes now. Valid until the
  // next call.
  const native::AddressSpace& Of(uint32_t pid, int64_t image_ns, uint32_t unloads, int64_t now_ns);
  // Something lies in no file that is known: read anew, if that was not done just now and nothing
  // was unloaded since `unloads`. False: there is nothing new.
  bool Renew(uint32_t pid, uint32_t unloads, int64_t now_ns);

 private:
  struct Process {
    int64_t image_ns = 0;
    int64_t next_ns = 0;   // not before
    int64_t every_ns = 0;  // twice as long each time that there was nothing new
    int64_t asked_ns = 0;
    uint32_t unloads = 0;  // when `lines` were read
    std::string lines;
    native::AddressSpace space;
    native::AddressSpace lasting;  // of lines that were the same before something was unloaded
  };

  void ReadAfterUnload(uint32_t pid, Process& process);
  void ForgetOldest();

  native::Modules& modules_;
  const std::atomic<uint32_t>& unloads_;
  std::map<uint32_t, Process> processes_;  // by pid
};

}  // namespace batchlight::capture
