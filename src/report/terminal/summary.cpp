#include "report/terminal/summary.h"

#include "base/terminal.h"
#include "report/terminal/summary_sections.h"

namespace batchlight {

std::string SummaryAsText(const RunOverview& overview, const SummaryOptions& options) {
  SummaryText out(options.style);
  WriteHead(out, overview);
  WriteLosses(out, overview);
  WriteStages(out, overview);
  WriteSteps(out, overview);
  WriteMeasuredOverhead(out, overview);
  WritePhases(out, overview);
  WriteGpu(out, overview, options.rows);
  WriteCounters(out, overview);
  WriteModules(out, overview, options.rows);
  WriteLines(out, overview, options.rows);
  WriteLineMemory(out, overview, options.rows);
  WriteSampledPython(out, overview, options.rows);
  WritePythonFunctions(out, overview, options.rows);
  WritePythonLines(out, overview, options.rows);
  WriteOperators(out, overview, options.rows);
  WriteRanges(out, overview, options.rows);
  WriteAdvice(out, overview);
  WriteFootnotes(out, overview);
  WriteFiles(out, overview, options);
  return out.text();
}

bool PrintSummary(const RunOverview& overview, FILE* out,
                  std::vector<std::pair<std::string, std::string>> files) {
  const SummaryOptions options{.style = TerminalStyle::Of(out), .files = std::move(files)};
  const std::string text = SummaryAsText(overview, options);
  // A parent that reads once we have ended never does.
  constexpr int kPatienceMs = 10'000;
  return WritePatiently(out, text, kPatienceMs);
}

}  // namespace batchlight
