// What `batchlight dlprof` shows in TensorBoard: how long iterations take and how busy each GPU is
// (scalars, a histogram), the longest operators or kernels (pictures), the reports and what to
// change (text).
#pragma once

#include <string>

#include "analysis/dlprof/model.h"
#include "analysis/overview/run_overview.h"
#include "analysis/result/result_table.h"
#include "base/status.h"

namespace batchlight {

// DLProf's expert systems report: what to change.
ResultTable ExpertSystemsReport(const RunOverview& overview);

// The bytes of an event file. Errors: kInternal when the drawing library fails.
Result<std::string> DlprofEvents(const RunOverview& overview, const dlprof::Model& model);

}  // namespace batchlight
