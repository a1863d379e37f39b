#include "cli/kernels/stall_view.h"

#include <algorithm>

#include "analysis/result/table_columns.h"
#include "analysis/stalls/stall_tables.h"
#include "cli/reading/stall_tables.h"
#include "cli/reading/standard_output.h"
#include "report/tables/people_table.h"
#include "report/terminal/summary_text.h"
#include "report/text/kernel_text.h"
#include "report/text/number_text.h"

namespace batchlight::cli {
namespace {

bool HasGraphs(const Store& store) {
  const auto& nodes = store.kernels.graph_node;
  return store.graph_launches.size() > 0 ||
         std::any_of(nodes.begin(), nodes.end(), [](uint64_t node) { return node != 0; });
}

std::string Head(const StallProfile& profile, bool has_graphs) {
  std::string text = "Sampled instructions: " + CountText(profile.samples) +
                     " samples of warps in " + std::to_string(profile.windows) +
                     (profile.windows == 1 ? " step\n" : " steps\n");
  const auto say = [&text](const std::string& line) { text += "  " + line + "\n"; };
  if (profile.dropped > 0) {
    say("the hardware lost " + CountText(profile.dropped) + " of " + CountText(profile.taken));
  }
  if (profile.buffer_full) say("its buffer was full: samples are missing");
  if (profile.windows_cut > 0) {
    say("the program ended before all samples of " + std::to_string(profile.windows_cut) +
        " of these steps were written");
  }
  if (profile.windows_short > 0) {
    say("a CUDA graph began to be captured in " + std::to_string(profile.windows_short) +
        " of these steps, which ended its sampling");
  }
  if (has_graphs) {
    say("kernels that ran within CUDA graphs have no samples: CUPTI samples those that are "
        "launched one by one");
  }
  if (profile.samples > 0 && !profile.has_lines) {
    say("no sampled kernel has lines of source: those have that are compiled with -lineinfo, as "
        "Triton's are");
  }
  return text + "\n";
}

// People get what stands before the columns of single reasons.
void KeepFirst(ResultTable* table) {
  const size_t count = ColumnWithKey(*table, "selected");
  table->columns.resize(count);
  for (auto& row : table->rows) row.resize(count);
}

// A column of texts, none of which is known, says nothing to people.
void LeaveOutIfEmpty(std::string_view key, ResultTable* table) {
  const size_t place = ColumnWithKey(*table, key);
  if (place == table->columns.size()) return;
  const bool is_empty = std::all_of(table->rows.begin(), table->rows.end(), [place](auto& row) {
    return std::get<std::string>(row[place]).empty();
  });
  if (!is_empty) return;
  table->columns.erase(table->columns.begin() + ptrdiff_t(place));
  for (auto& row : table->rows) row.erase(row.begin() + ptrdiff_t(place));
}

std::string AdviceText(const StallProfile& profile, size_t rows) {
  std::string text;
  size_t number = 0;
  for (const StallRow& kernel : profile.kernels) {
    if (rows != 0 && number == rows) break;
    ++number;
    const std::string advice = StallAdvice(kernel);
    if (advice.empty()) continue;
    text += "  " + std::to_string(number) + ". " + KernelLabel(kernel.kernel).substr(0, 70) +
            "\n     " + advice + "\n";
  }
  return text.empty() ? text : "What to do\n" + text + "\n";
}

void Choose(const std::function<bool(std::string_view)>& wanted, StallProfile& profile) {
  if (!wanted) return;
  const auto unwanted = [&wanted](const StallRow& row) { return !wanted(row.kernel); };
  std::erase_if(profile.kernels, unwanted);
  std::erase_if(profile.lines, unwanted);
}

Status Print(const KernelView& view, const TableFormat& format, ResultTable table) {
  if (view.rows > 0 && table.rows.size() > view.rows) table.rows.resize(view.rows);
  if (format.for_people()) {
    if (table.rows.empty()) return {};
    KeepFirst(&table);
    for (const std::string_view key : {"source", "instruction"}) LeaveOutIfEmpty(key, &table);
    ShortenKernelNames(&table);
    SuitUnits(&table);
    const auto width = static_cast<size_t>(TerminalStyle::Of(stdout).terminal_width);
    if (width != 0) FitWidth(format, width, &table);
  }
  RETURN_IF_ERROR(WriteTable(format, RowsOf(table), WriteNamesOut));
  return format.for_people() ? WriteOut("\n") : Status();
}

}  // namespace

bool WantsStalls(const KernelView& view) {
  return std::any_of(kStallTables.begin(), kStallTables.end(), [&view](std::string_view table) {
    return IsWanted(view, table) && (view.stalls || !IsWanted(view, "all"));
  });
}

Status PrintStalls(const Store& store, const KernelView& view, const TableFormat& format,
                   const std::function<bool(std::string_view)>& wanted, const std::string& input) {
  ASSIGN_OR_RETURN(StallProfile profile, ReadStallProfile(store, input));
  if (profile.windows == 0) {
    SayLine("batchlight: " + input +
            ": no instructions were sampled (--stalls); `batchlight table losses` says why");
  }
  Choose(wanted, profile);
  if (format.for_people() && profile.windows > 0)
    RETURN_IF_ERROR(WriteOut(Head(profile, HasGraphs(store))));
  if (IsWanted(view, kStallTables[0])) {
    RETURN_IF_ERROR(Print(view, format, StallKernelsTable(profile)));
    if (format.for_people()) RETURN_IF_ERROR(WriteNamesOut(AdviceText(profile, view.rows)));
  }
  if (!IsWanted(view, kStallTables[1])) return {};
  return Print(view, format, StallLinesTable(profile));
}

}  // namespace batchlight::cli
