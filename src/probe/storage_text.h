// The results of `probe storage` as people read them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "probe/storage_measurements.h"
#include "probe/storage_verdict.h"

namespace batchlight::probe {

struct StorageReport {
  StorageMeasurements found;
  std::vector<FedAccelerators> fed;
  std::string run;  // what --for named
  std::optional<RunVerdict> for_run;
};

std::string StorageText(const StorageReport& report);
// One object: what was measured, measurements, accelerators, run, notes.
std::string StorageJson(const StorageReport& report);

}  // namespace batchlight::probe
