// The data of the report page, as JSON; web/src/data.ts describes it. Everything comes from
// analyses; this code only lays it out, cuts it to size and cleans it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/advice/finding.h"
#include "analysis/gpu/gpu_utilization.h"
#include "analysis/memory/gpu_memory.h"
#include "analysis/overview/run_overview.h"
#include "analysis/partial/job_result.h"
#include "analysis/result/result_table.h"
#include "report/text/top_list.h"

namespace batchlight {

struct PageTable {
  ResultTable table;
  std::string csv;  // name of the file with all rows
};

struct PageInput {
  const RunOverview* overview = nullptr;
  const PhaseEvents* phase_events = nullptr;
  const std::vector<Finding>* advice = nullptr;
  const std::vector<GpuUtilization>* utilization = nullptr;
  const std::vector<MemoryCurve>* memory = nullptr;
  const std::vector<TopList>* tops = nullptr;
  const std::vector<PageTable>* tables = nullptr;
  std::string version;
  const JobResult* job = nullptr;  // its ranks beside each other; nullptr: there are no several
};

// The most that a page holds. Beyond these limits tables end and say so, steps are grouped, and
// long texts lose their middle.
struct PageLimits {
  size_t rows = 2000;   // of a table
  size_t nodes = 2500;  // of the attribution tree
  size_t steps = 20000;
  size_t events = 1200;  // groups of events behind the phases
  size_t text = 2000;    // characters
};

std::string MakePageJson(const PageInput& input, const PageLimits& limits);

// The same, with the limits halved until the text is at most `most_bytes` long.
std::string MakePageJsonWithin(const PageInput& input, size_t most_bytes);

}  // namespace batchlight
