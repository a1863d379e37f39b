// DLProf's reports as tables. Title and column order of the Tensor Core report are DLProf's own;
// of the others the public guides give the contents but not the exact columns. Every column's help
// text says what it counts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/dlprof/model.h"
#include "analysis/result/result_table.h"

namespace batchlight::dlprof {

struct ReportEntry {
  std::string_view option;  // of --reports
  std::string_view file;    // <profile>_<file>.csv
  ResultTable (*make)(const Store& store, const Model& model);
};

// All reports but expert_systems, which is made from the advice.
const std::vector<ReportEntry>& Reports();

}  // namespace batchlight::dlprof
