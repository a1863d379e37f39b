// What is code in the memory of a process, as /proc tells of it: where the kernel does not tell of
// each file that is mapped.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>

#include "native/address_space.h"

namespace batchlight::capture {

// The lines of /proc/PID/maps.
native::AddressSpace ReadMaps(std::string_view text, native::Modules& modules);

class MappedCode {
 public:
  explicit MappedCode(native::Modules& modules) : modules_(modules) {}

  // Read once; empty of a process that has not mapped the file of samples. `image_ns` tells what a
  // process executed from what it executes now. Valid until the next call.
  const native::AddressSpace& Of(uint32_t pid, int64_t image_ns, int64_t now_ns);
  // Something lies in no file that is known: read anew, if that was not done just now. False: there
  // is nothing new.
  bool Renew(uint32_t pid, int64_t now_ns);

 private:
  struct Process {
    int64_t image_ns = 0;
    int64_t next_ns = 0;   // not before
    int64_t every_ns = 0;  // twice as long each time that there was nothing new
    size_t text_hash = 0;
    int64_t asked_ns = 0;
    native::AddressSpace space;
  };

  bool Read(uint32_t pid, Process& process, int64_t now_ns);
  void ForgetOldest();

  native::Modules& modules_;
  std::map<uint32_t, Process> processes_;  // by pid
};

}  // namespace batchlight::capture
