// Runs the same work in several processes at once, as the workers of a data loader are processes,
// and measures it by the time of the slowest one. A worker that hangs on a dead mount is ended; the
// process that asked never touches the files itself.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/status.h"
#include "probe/latency_histogram.h"

namespace batchlight::probe {

int64_t NowNs();  // CLOCK_MONOTONIC

// What a worker knows and reports. Lies in memory shared with the process that asked.
struct Turn {
  int worker = 0;
  int workers = 1;
  int64_t stop_ns = 0;  // begin no operation after this

  uint64_t operations = 0;
  uint64_t bytes = 0;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;  // of the last operation; in the end, of all
  int error = 0;       // errno of the operation that failed
  LatencyHistogram latencies;

  // Times `operation`, which returns the bytes that it moved, or -1 with errno. False: it failed.
  template <typename Operation>
  bool Measure(const Operation& operation) {
    const int64_t begin = NowNs();
    const int64_t moved = operation();
    end_ns = NowNs();
    if (moved < 0) return false;
    latencies.Add(static_cast<uint64_t>(end_ns - begin));
    bytes += static_cast<uint64_t>(moved);
    ++operations;
    return true;
  }
  // As of the last operation's end: another look at the clock would be felt in reads of 4 KiB.
  bool TimeIsUp() const { return end_ns >= stop_ns; }
};

struct WorkersSpec {
  int workers = 1;
  double seconds = 1;         // how long they may begin operations
  double grace_seconds = 20;  // how long the last operation of each may take after that
  // In each worker. `prepare` is not measured. Both return 0 or an errno; `run` keeps what it did
  // before an error.
  std::function<int(Turn& turn)> prepare;
  std::function<int(Turn& turn)> run;
};

struct WorkersResult {
  uint64_t operations = 0;
  uint64_t bytes = 0;
  int64_t elapsed_ns = 0;
  int error = 0;  // an errno of `prepare`, and nothing was done; or of `run`, with what was done
  LatencyHistogram latencies;

  double PerSecond(uint64_t amount) const {
    return elapsed_ns > 0 ? static_cast<double>(amount) * 1e9 / static_cast<double>(elapsed_ns) : 0;
  }
};

// Errors (kInput) name `what`: a worker could not be started, died, or hung; or the user
// interrupted (Interruption).
Result<WorkersResult> RunWorkers(const std::string& what, const WorkersSpec& spec);

}  // namespace batchlight::probe
