// The lines of Python code that hold most memory.
#include "analysis/lines/gpu_line_memory.h"
#include "analysis/lines/source_place.h"
#include "analysis/numbers/percent.h"
#include "report/terminal/summary_sections.h"
#include "report/text/number_text.h"

namespace batchlight {
namespace {

std::string MemoryPlaceText(const Store& store, PythonFrameId frame) {
  if (frame.IsNone()) return "no Python code";
  return std::string(ShortFile(store.Text(store.python_frames.file[frame.row()]))) + ':' +
         std::to_string(store.python_frames.line[frame.row()]);
}

std::string SignedBytesText(double bytes) {
  return bytes < 0 ? "-" + BytesText(-bytes) : BytesText(bytes);
}

std::string SourceText(const Store& store, PythonFrameId frame) {
  if (frame.IsNone()) return "";
  return std::string(store.Text(store.python_frames.text[frame.row()]));
}

void WriteGpuMemory(SummaryText& out, const Store& store, size_t rows) {
  const GpuLineMemory memory = MeasureGpuLineMemory(store);
  if (memory.peak_bytes == 0) return;
  SummaryTable table(out, {{.header = "", .right = false},
                           {.header = "source", .right = false, .least_width = 90},
                           {.header = "at the peak"},
                           {.header = "allocated"},
                           {.header = "in backward"},
                           {.header = "of peak"}});
  for (size_t i = 0; i < memory.rows.size() && i < rows; ++i) {
    const GpuMemoryRow& line = memory.rows[i];
    if (line.peak_bytes == 0) break;
    const bool is_line = line.kind == LineKind::kLine;
    table.Row(
        {{is_line ? MemoryPlaceText(store, line.frame) : std::string(LineKindName(line.kind))},
         {SourceText(store, line.frame), Tone::kDim},
         {BytesText(static_cast<double>(line.peak_bytes))},
         {BytesText(static_cast<double>(line.allocated_bytes))},
         {BytesText(static_cast<double>(line.backward_bytes))},
         {PercentText(PercentOf(line.peak_bytes, memory.peak_bytes) / 100), Tone::kStrong}});
  }
  table.Print("GPU memory by line of Python, " + BytesText(static_cast<double>(memory.peak_bytes)) +
              " at the peak");
}

}  // namespace

void WriteLineMemory(SummaryText& out, const RunOverview& overview, size_t rows) {
  const LineMemory& memory = overview.line_memory;
  WriteGpuMemory(out, *overview.store, rows);
  if (memory.empty()) return;
  const Store& store = *overview.store;
  SummaryTable table(out, {{.header = "", .right = false},
                           {.header = "source", .right = false, .least_width = 90},
                           {.header = "at the peak"},
                           {.header = memory.steps > 0 ? "growth a step" : "at the end"},
                           {.header = "allocated"},
                           {.header = "of peak"}});
  for (size_t i = 0; i < memory.rows.size() && i < rows; ++i) {
    const LineMemoryRow& line = memory.rows[i];
    if (line.peak_bytes == 0) break;
    const double last =
        memory.steps > 0 ? line.growth_per_step_bytes : static_cast<double>(line.end_bytes);
    table.Row({{MemoryPlaceText(store, line.frame)},
               {SourceText(store, line.frame), Tone::kDim},
               {BytesText(static_cast<double>(line.peak_bytes))},
               {SignedBytesText(last)},
               {BytesText(static_cast<double>(line.allocated_bytes))},
               {PercentText(PercentOf(line.peak_bytes, memory.peak_bytes) / 100), Tone::kStrong}});
  }
  table.Print("Memory by line of Python, " + BytesText(static_cast<double>(memory.peak_bytes)) +
              " at the peak");
}

}  // namespace batchlight
