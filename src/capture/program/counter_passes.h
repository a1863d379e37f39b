// Which hardware metrics a GPU has, and in how many passes they can be read: CUPTI is asked, by
// host_query, and needs no GPU where the chip is named.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "capture/program/host_query.h"

namespace batchlight::capture {

struct PassRequest {
  std::string cupti_folder = "-";   // FindCuptiFolder()
  std::string chip = "-";           // "-": this machine's GPU
  bool samples = false;             // over time, in one pass; else ranges
  std::vector<std::string> always;  // metrics of every pass
  std::vector<std::string> others;
};

struct PassPlan {
  std::string library;  // libcupti
  std::string chip;
  std::vector<std::vector<std::string>> passes;
  std::vector<std::string> missing;  // metrics that the chip lacks
  std::vector<std::string> several;  // that need more than one pass each
};

// Errors (kInput): no CUPTI, no GPU, an unknown chip, and what AskHost() says.
Result<PassPlan> PlanPasses(const PassRequest& request);

// The chips that CUPTI knows.
Result<std::vector<std::string>> KnownChips(const std::string& cupti_folder);

struct MetricLine {
  std::string name;
  std::string type;  // counter, ratio, throughput
  std::string unit;
  std::string help;
};
// All base metrics of a chip.
Result<std::vector<MetricLine>> MetricsOfChip(const PassRequest& request);

}  // namespace batchlight::capture
