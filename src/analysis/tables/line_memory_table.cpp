// Memory by line of Python code.
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/lines/gpu_line_memory.h"
#include "analysis/lines/stack_lines.h"
#include "analysis/numbers/percent.h"
#include "analysis/result/result_column.h"
#include "analysis/tables/overview_tables.h"

namespace batchlight {
namespace {

// A line with what it has of RAM and of GPUs; either may be nothing.
struct MemoryLine {
  const Store* store;
  const LineMemory* memory;
  const GpuLineMemory* gpu_memory;
  LineKind kind = LineKind::kLine;
  PythonFrameId frame;
  PythonStackId stack;
  LineMemoryRow ram;
  GpuMemoryRow gpu;

  std::string Text(std::vector<StringId> PythonFramesTable::*column) const {
    if (frame.IsNone()) return "";
    return std::string(store->Text((store->python_frames.*column)[frame.row()]));
  }
};

std::string MemoryPlace(const MemoryLine& row) {
  if (row.frame.IsNone()) return row.kind == LineKind::kOutside ? "[no Python code]" : "";
  return row.Text(&PythonFramesTable::file) + ':' +
         std::to_string(row.store->python_frames.line[row.frame.row()]);
}

auto BytesOf(uint64_t LineMemoryRow::*bytes) {
  return [bytes](const MemoryLine& row) { return NumberCell(row.ram.*bytes); };
}

auto GpuBytesOf(uint64_t GpuMemoryRow::*bytes) {
  return [bytes](const MemoryLine& row) { return NumberCell(row.gpu.*bytes); };
}

// By falling bytes at the peaks.
std::vector<MemoryLine> LinesOf(const Store& store, const LineMemory& memory,
                                const GpuLineMemory& gpu_memory) {
  std::map<std::tuple<LineKind, StringId, uint32_t>, MemoryLine> lines;
  const auto line_of = [&](LineKind kind, PythonFrameId frame) -> MemoryLine& {
    const bool known = !frame.IsNone();
    const std::tuple key{kind, known ? store.python_frames.file[frame.row()] : StringId(),
                         known ? store.python_frames.line[frame.row()] : 0};
    return lines.try_emplace(key, MemoryLine{&store, &memory, &gpu_memory, kind, frame, {}, {}, {}})
        .first->second;
  };
  for (const GpuMemoryRow& row : gpu_memory.rows) {
    MemoryLine& line = line_of(row.kind, row.frame);
    line.stack = row.stack;
    line.gpu = row;
  }
  for (const LineMemoryRow& row : memory.rows) {
    MemoryLine& line =
        line_of(row.frame.IsNone() ? LineKind::kOutside : LineKind::kLine, row.frame);
    line.stack = row.stack;
    line.ram = row;
  }
  std::vector<MemoryLine> sorted;
  for (const auto& [key, line] : lines) sorted.push_back(line);
  const auto order = [](const MemoryLine& line) {
    return std::pair(line.ram.peak_bytes + line.gpu.peak_bytes,
                     line.ram.allocated_bytes + line.gpu.allocated_bytes);
  };
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const MemoryLine& a, const MemoryLine& b) { return order(a) > order(b); });
  return sorted;
}

void AddLineColumns(Columns<MemoryLine>& columns, bool gpu) {
  using Row = MemoryLine;
  if (gpu) {
    Append<Row>(columns,
                {{TextColumn("kind", "What", "A line, or what no line of the forward made"),
                  [](const Row& row) { return std::string(LineKindName(row.kind)); }}});
  }
  Append<Row>(
      columns,
      {{TextColumn("place", "Line",
                   "File and line: the innermost of your own code, not of installed packages"),
        MemoryPlace},
       {TextColumn("source", "Source", "The line's text, if its file is still as it was"),
        [](const Row& row) { return row.Text(&PythonFramesTable::text); }},
       {TextColumn("function", "Function", "In which the line stands"),
        [](const Row& row) { return row.Text(&PythonFramesTable::function); }}});
}

void AddGpuColumns(Columns<MemoryLine>& columns) {
  using Row = MemoryLine;
  Append<Row>(
      columns,
      {{BytesColumn("gpu_peak", "GPU At Peak",
                    "Held of PyTorch's allocator when the process held most of that GPU"),
        GpuBytesOf(&GpuMemoryRow::peak_bytes)},
       {PercentColumn("gpu_peak_share", "GPU Peak %", "Of all that was held then"),
        [](const Row& row) { return PercentOf(row.gpu.peak_bytes, row.gpu_memory->peak_bytes); }},
       {CountColumn("gpu_allocations", "GPU Allocations", "Blocks of PyTorch's allocator"),
        GpuBytesOf(&GpuMemoryRow::allocations)},
       {BytesColumn("gpu_allocated", "GPU Allocated", "In all, given back or not"),
        GpuBytesOf(&GpuMemoryRow::allocated_bytes)},
       {BytesColumn(
            "gpu_backward", "GPU Backward",
            "Of GPU Allocated, by the functions that differentiate the line's operators, and "
            "by forward that checkpointing runs again"),
        GpuBytesOf(&GpuMemoryRow::backward_bytes)},
       {BytesColumn("gpu_end", "GPU At End", "Not given back when the recording ended"),
        GpuBytesOf(&GpuMemoryRow::end_bytes)}});
}

void AddMemoryColumns(Columns<MemoryLine>& columns) {
  using Row = MemoryLine;
  Append<Row>(
      columns,
      {{BytesColumn("peak", "At Peak", "Held by blocks of the line when the process held most"),
        BytesOf(&LineMemoryRow::peak_bytes)},
       {PercentColumn("peak_share", "Peak %", "Of all that was held then"),
        [](const Row& row) { return PercentOf(row.ram.peak_bytes, row.memory->peak_bytes); }},
       {BytesColumn("peak_python", "Python At Peak", "Of At Peak, by objects of Python"),
        BytesOf(&LineMemoryRow::peak_python_bytes)},
       {CountColumn("allocations", "Allocations", "Blocks; estimated where they are sampled"),
        BytesOf(&LineMemoryRow::allocations)},
       {BytesColumn("allocated", "Allocated", "In all, freed again or not"),
        BytesOf(&LineMemoryRow::allocated_bytes)},
       {PercentColumn("python_share", "Python %",
                      "Of Allocated, for objects of Python; the rest is "
                      "native: arrays, tensors, libraries"),
        [](const Row& row) { return PercentOf(row.ram.python_bytes, row.ram.allocated_bytes); }},
       {BytesColumn("end", "At End", "Not freed when the process, or the recording, ended"),
        BytesOf(&LineMemoryRow::end_bytes)},
       {BytesColumn("growth", "Growth/Step",
                    "By which what the line holds rises from one steady "
                    "step to the next"),
        [](const Row& row) {
          if (row.memory->steps == 0) return Cell{};
          return Cell{static_cast<int64_t>(std::llround(row.ram.growth_per_step_bytes))};
        }}});
}

Columns<MemoryLine> MemoryLineColumns(bool ram, bool gpu) {
  Columns<MemoryLine> columns;
  AddLineColumns(columns, gpu);
  if (gpu) AddGpuColumns(columns);
  if (ram) AddMemoryColumns(columns);
  Append<MemoryLine>(
      columns,
      {{TextColumn("callers", "Callers", "Lines of your own code that led there, innermost first"),
        [](const MemoryLine& row) {
          return row.frame.IsNone() ? "" : CallersText(*row.store, row.stack, row.frame);
        }}});
  return columns;
}

}  // namespace

ResultTable MakeMemoryLinesTable(const RunOverview& overview) {
  const GpuLineMemory gpu = MeasureGpuLineMemory(*overview.store);
  const LineMemory& ram = overview.line_memory;
  const Columns<MemoryLine> columns = MemoryLineColumns(!ram.empty() || gpu.empty(), !gpu.empty());
  ResultTable table = EmptyTable("memory_lines", "Memory of each line of Python", columns);
  for (const MemoryLine& line : LinesOf(*overview.store, ram, gpu)) AddRow(table, columns, line);
  return table;
}

}  // namespace batchlight
