// Where the parts of batchlight lie, found from the place of the running program: PREFIX/bin,
// PREFIX/lib, PREFIX/share/batchlight. The folder may be moved or copied as a whole.
#pragma once

#include <string>

#include "base/status.h"

namespace batchlight::capture {

struct Install {
  std::string prefix;
  std::string inject_library;  // PREFIX/lib/libbatchlight_inject.so
  std::string osrt_library;    // PREFIX/lib/libbatchlight_osrt.so, preloaded with -t osrt
  std::string memory_library;  // PREFIX/lib/libbatchlight_memory.so, with --python-memory
  std::string
      timers_library;      // PREFIX/lib/libbatchlight_timers.so, where the kernel takes no samples
  std::string host_query;  // PREFIX/lib/batchlight/host_query
  std::string python_folder;  // holds the package `batchlight`
};

// Error (kInput) if the injected library is not there; the message says where it was looked for.
Result<Install> FindInstall();

}  // namespace batchlight::capture
