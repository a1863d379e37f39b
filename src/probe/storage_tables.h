// The results of `probe storage` as tables: for csv, json and pictures.
#pragma once

#include <vector>

#include "analysis/result/result_table.h"
#include "probe/storage_measurements.h"
#include "probe/storage_verdict.h"

namespace batchlight::probe {

ResultTable StorageTable(const StorageMeasurements& found);

// Reads alone, cold where they are, for a chart: one series for each pattern.
ResultTable StorageChartTable(const StorageMeasurements& found);

ResultTable AcceleratorsTable(const std::vector<FedAccelerators>& fed);

}  // namespace batchlight::probe
