// The sections of the terminal summary, top to bottom. Each writes nothing if it has nothing to
// say.
#pragma once

#include <algorithm>
#include <string>

#include "report/terminal/summary.h"
#include "report/text/number_text.h"

namespace batchlight {

// Prints the times of a column in one unit, chosen by the largest.
class TimesInOneUnit {
 public:
  // Two decimals, so that a small part of a large whole is seen; fewer digits for whole numbers.
  explicit TimesInOneUnit(double largest_ns)
      : scale_(TimeScale(largest_ns)), decimals_(scale_.factor == 1 ? 0 : 2) {}
  std::string Header(std::string_view name) const {
    return std::string(name) + " " + std::string(scale_.unit);
  }
  std::string Text(double ns) const { return FixedText(ns / scale_.factor, decimals_); }

 private:
  Scale scale_;
  int decimals_;
};

inline bool HasSteps(const RunOverview& overview) { return overview.steps.Main() != nullptr; }

void WriteHead(SummaryText& out, const RunOverview& overview);
void WriteLosses(SummaryText& out, const RunOverview& overview);
// The life of the main process, by stage.
void WriteStages(SummaryText& out, const RunOverview& overview);
void WriteFootnotes(SummaryText& out, const RunOverview& overview);
void WriteSteps(SummaryText& out, const RunOverview& overview);
// What --measure-overhead found.
void WriteMeasuredOverhead(SummaryText& out, const RunOverview& overview);
void WritePhases(SummaryText& out, const RunOverview& overview);
void WriteGpu(SummaryText& out, const RunOverview& overview, size_t rows);
// What --step-counters measured.
void WriteCounters(SummaryText& out, const RunOverview& overview);
void WriteModules(SummaryText& out, const RunOverview& overview, size_t rows);
void WriteOperators(SummaryText& out, const RunOverview& overview, size_t rows);
void WriteLines(SummaryText& out, const RunOverview& overview, size_t rows);
// Who holds memory when it is most (--python-memory).
void WriteLineMemory(SummaryText& out, const RunOverview& overview, size_t rows);
// Where samples found Python, if its functions were not counted.
void WriteSampledPython(SummaryText& out, const RunOverview& overview, size_t rows);
// What --python-trace and --lines counted.
void WritePythonFunctions(SummaryText& out, const RunOverview& overview, size_t rows);
void WritePythonLines(SummaryText& out, const RunOverview& overview, size_t rows);
void WriteRanges(SummaryText& out, const RunOverview& overview, size_t rows);
// The three findings that gain most.
void WriteAdvice(SummaryText& out, const RunOverview& overview);
void WriteFiles(SummaryText& out, const RunOverview& overview, const SummaryOptions& options);

}  // namespace batchlight
