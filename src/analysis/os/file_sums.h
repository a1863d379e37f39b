// Files, sockets and pipes by what was read and written.
#pragma once

#include <cstdint>
#include <vector>

#include "store/store.h"

namespace batchlight {

struct FileSum {
  StringId file;  // None: the name is not known
  uint64_t processes = 0;
  uint64_t opened = 0;  // times, over all processes
  uint64_t reads = 0;
  uint64_t bytes_read = 0;
  int64_t read_ns = 0;
  uint64_t writes = 0;
  uint64_t bytes_written = 0;
  int64_t write_ns = 0;
  int64_t slowest_ns = 0;  // the longest single call
};

// By time in calls, then by bytes. Pipes and sockets, which have numbers for names, come one by
// one.
std::vector<FileSum> SumFiles(const Store& store);

}  // namespace batchlight
