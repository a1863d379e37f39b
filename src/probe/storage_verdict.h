// What the measured figures mean: how many accelerators the path feeds, and whether it keeps up
// with a recorded run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "probe/storage_measurements.h"
#include "store/store.h"

namespace batchlight::probe {

// A row of workloads.def against the path.
struct FedAccelerators {
  std::string_view workload;
  std::string_view reads;
  double needed_bytes_per_s = 0;                 // of one accelerator that never waits
  const StorageMeasurement* measured = nullptr;  // nullptr: not measured cold
  double accelerators = 0;
};
std::vector<FedAccelerators> FeedAccelerators(const StorageMeasurements& found);

// What the steps of a recorded run read, of all ranks and their workers together.
struct RunReads {
  uint64_t steps = 0;
  double step_ns = 0;  // median
  double bytes_per_step = 0;
  double files_per_step = 0;  // opened and read
  double bytes_per_read = 0;
  double bytes_per_file = 0;    // each time that one was open
  double read_ns_per_step = 0;  // the time in these calls, over all workers
};

// Errors (kInput): no steps, or no reads of files, with how to record them.
Result<RunReads> ReadsOfRun(const std::string& run, const Store& store);

struct RunVerdict {
  RunReads reads;
  const StorageMeasurement* measured = nullptr;  // the row that reads most alike; nullptr: none
  const StorageMeasurement* warm = nullptr;
  double needed_bytes_per_s = 0;
  double times_needed = 0;  // what the path gives cold / needed
  double step_ns = 0;       // the shortest step that it feeds
};
RunVerdict CompareWithRun(const StorageMeasurements& found, const RunReads& reads);

}  // namespace batchlight::probe
