// What the program's memory does from step to step (lines/line_memory.h).
#include <string>

#include "analysis/advice/advice_text.h"
#include "analysis/advice/rules.h"
#include "analysis/lines/code_samples.h"

namespace batchlight::advice {
namespace {

bool Grows(const LineMemory& memory, const LineMemoryRow& line) {
  return !line.frame.IsNone() && line.rising_share >= kRisingMemory &&
         line.growth_per_step_bytes >= kGrowingBytes &&
         line.growth_per_step_bytes * double(memory.steps) >=
             kGrownShare * double(memory.peak_bytes);
}

std::string MegabytesOf(double bytes) { return Rounded(bytes / 1e6) + " MB"; }

std::string LineName(const Store& store, PythonFrameId frame) {
  const PythonFramesRow row = store.python_frames.Row(frame.row());
  return FunctionText(
      store,
      {.file = row.file, .function = std::string(store.Text(row.function)), .line = row.line});
}

}  // namespace

void MemoryGrowth(const RunMeasures& run, Findings* findings) {
  const LineMemory& memory = run.line_memory;
  Finding finding;
  double a_step_bytes = 0, held_bytes = 0;
  const LineMemoryRow* most = nullptr;
  for (const LineMemoryRow& line : memory.rows) {
    if (!Grows(memory, line)) continue;
    a_step_bytes += line.growth_per_step_bytes;
    held_bytes += double(line.end_bytes);
    if (most == nullptr || line.growth_per_step_bytes > most->growth_per_step_bytes) most = &line;
    if (finding.evidence.size() < 5) {
      finding.evidence.push_back(
          {.kind = "line", .name = LineName(*run.store, line.frame), .count = line.allocations});
    }
  }
  if (most == nullptr) return;
  finding.title = LineName(*run.store, most->frame) + " holds " +
                  MegabytesOf(most->growth_per_step_bytes) + " more after each step";
  finding.seen = "What " + std::to_string(finding.evidence.size()) +
                 " line(s) of Python allocated and did not free grows by " +
                 MegabytesOf(a_step_bytes) + " a step over " + std::to_string(memory.steps) +
                 " steps, to " + MegabytesOf(held_bytes) + " at the end; the process held " +
                 MegabytesOf(double(memory.peak_bytes)) + " at its peak.";
  finding.why = "A run that goes on ends when memory does, and workers are started with a copy.";
  finding.action =
      "Keep numbers instead of tensors from one step to the next (loss.item(), .detach()), bound "
      "caches and lists of results, and write what hooks and callbacks collect to a file.";
  findings->push_back(std::move(finding));
}

}  // namespace batchlight::advice
