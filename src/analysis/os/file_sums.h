// Files, sockets and pipes by what was read and written.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "store/store.h"

namespace batchlight {

// How much of a stretch of time of a process lies in steps that count.
using NsInSteps = std::function<int64_t(ProcessId process, int64_t start_ns, int64_t end_ns)>;

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
  int64_t slowest_ns = 0;     // the longest single call
  double bytes_in_steps = 0;  // of both, by the part of its time, from first use to close, in steps
};

// By time in calls, then by bytes. Pipes and sockets, which have numbers for names, come one by
// one.
std::vector<FileSum> SumFiles(const Store& store, const NsInSteps& in_steps);

}  // namespace batchlight
