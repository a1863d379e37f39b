#include "analysis/stalls/stall_tables.h"

#include <cstdio>
#include <string>

#include "analysis/result/result_column.h"

namespace batchlight {
namespace {

std::string FileName(const std::string& path) { return path.substr(path.rfind('/') + 1); }

double PercentOf(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : double(part) * 100 / double(whole);
}

std::string HexOf(uint64_t number) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%04llx", static_cast<unsigned long long>(number));
  return text;
}

Columns<StallRow> CountColumns() {
  return {{CountColumn("samples", "Samples", "Of warps on it"),
           [](const StallRow& row) { return NumberCell(row.samples); }},
          {PercentColumn("share", "Share", "Of all samples: about its share of the GPU's time"),
           [](const StallRow& row) { return Cell{row.share * 100}; }}};
}

ColumnOf<StallRow> MainStallsColumn() {
  return {TextColumn("stalls", "Waits Mostly For", "The reasons with most samples"),
          [](const StallRow& row) { return MainStalls(row); }};
}

// A column for each reason, in percent of the row's samples.
void AppendReasons(Columns<StallRow>& columns) {
  columns.push_back(
      {PercentColumn("not_issued", "Not Issued",
                     "Of its samples: in these no warp of the scheduler went on"),
       [](const StallRow& row) { return Cell{PercentOf(row.not_issued, row.samples)}; }});
  for (size_t i = 0; i < kStallReasons; ++i) {
    const StallReason& reason = kStallReasonList[i];
    columns.push_back(
        {PercentColumn(std::string(reason.name), std::string(reason.title),
                       std::string(reason.help)),
         [i](const StallRow& row) { return Cell{PercentOf(row.by_reason[i], row.samples)}; }});
  }
  columns.push_back(
      {PercentColumn("other", "Other", "Reasons that have no column"), [](const StallRow& row) {
         return Cell{PercentOf(row.by_reason[kStallReasons], row.samples)};
       }});
}

}  // namespace

ResultTable StallKernelsTable(const StallProfile& profile) {
  Columns<StallRow> columns = {{TextColumn("kernel", "Kernel", "Its name, demangled"),
                                [](const StallRow& row) { return row.kernel; }}};
  Append(columns, CountColumns());
  columns.push_back(MainStallsColumn());
  AppendReasons(columns);
  columns.push_back({TextColumn("advice", "Advice", "What to do about the greatest reason"),
                     [](const StallRow& row) { return StallAdvice(row); }});
  return TableOf("stalls", "What warps of kernels wait for", columns, profile.kernels);
}

ResultTable StallLinesTable(const StallProfile& profile) {
  Columns<StallRow> columns = {
      {TextColumn("place", "Line", "Of the source; where the code has no lines, of its function"),
       [](const StallRow& row) {
         return row.line != 0 ? FileName(row.file) + ":" + std::to_string(row.line)
                              : "+" + HexOf(row.offset);
       }},
      {TextColumn("source", "Source", "The line's text, if its file is still as it was"),
       [](const StallRow& row) { return row.source; }},
      {TextColumn("instruction", "Instruction", "Of the line, the one with most samples"),
       [](const StallRow& row) { return row.instruction; }},
      {TextColumn("kernel", "Kernel", "Its name, demangled"),
       [](const StallRow& row) { return row.kernel; }},
      {PercentColumn("kernel_share", "Of Kernel", "Of the samples of its kernel"),
       [](const StallRow& row) { return Cell{row.kernel_share * 100}; }},
      MainStallsColumn()};
  Append(columns, CountColumns());
  AppendReasons(columns);
  columns.push_back({TextColumn("file", "File", "Path of the source"),
                     [](const StallRow& row) { return row.file; }});
  columns.push_back({CountColumn("line", "Line Number", "Of the source"), [](const StallRow& row) {
                       return row.line != 0 ? NumberCell(row.line) : Cell{};
                     }});
  columns.push_back({TextColumn("offset", "Offset", "Of the instruction in its function"),
                     [](const StallRow& row) { return HexOf(row.offset); }});
  return TableOf("hot_lines", "Lines and instructions of kernels by samples", columns,
                 profile.lines);
}

}  // namespace batchlight
