// The sections of the terminal summary, top to bottom. Each writes nothing if it has nothing to
// say.
#pragma once

#include "report/summary.h"

namespace batchlight {

void WriteHead(SummaryText& out, const RunOverview& overview);
void WriteLosses(SummaryText& out, const RunOverview& overview);
void WriteSteps(SummaryText& out, const RunOverview& overview);
void WritePhases(SummaryText& out, const RunOverview& overview);
void WriteModules(SummaryText& out, const RunOverview& overview, size_t rows);
void WriteOperators(SummaryText& out, const RunOverview& overview, size_t rows);
void WriteRanges(SummaryText& out, const RunOverview& overview, size_t rows);
void WriteFiles(SummaryText& out, const RunOverview& overview, const SummaryOptions& options);

}  // namespace batchlight
