#include "report/page/row_events.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/cuda/cuda_call.h"
#include "analysis/cuda/gpu_event_names.h"
#include "timeline/tracks/collective_tracks.h"

namespace batchlight {
namespace {

using nlohmann::json;

// A column whose texts are names of events of a table of the timeline; "": of several.
struct NamedRows {
  std::string_view table, column, events;
};
constexpr NamedRows kNamedRows[] = {{"modules", "module", "module_calls"},
                                    {"operators", "name", "operator_calls"},
                                    {"operators_by_shape", "name", "operator_calls"},
                                    {"key_averages", "name", ""},
                                    {"key_averages_by_shape", "name", ""},
                                    {"roofline", "operator", "operator_calls"},
                                    {"nvtx_ranges", "range", "nvtx_ranges"},
                                    {"kernels", "name", "kernels"},
                                    {"kernel_limits", "kernel", "kernels"},
                                    {"kernel_memory", "kernel", "kernels"},
                                    {"kernel_occupancy", "kernel", "kernels"},
                                    {"kernel_scheduler", "kernel", "kernels"},
                                    {"kernel_roofline", "kernel", "kernels"},
                                    {"kernel_counters", "kernel", "kernels"},
                                    {"stalls", "kernel", "kernels"},
                                    {"hot_lines", "kernel", "kernels"},
                                    {"lock_waits", "call", "os_calls"},
                                    {"call_stacks", "call", ""},
                                    {"stages", "stage", "stages"},
                                    {"samples", "function", "native_stretches"},
                                    {"sample_phases", "function", "native_stretches"}};

// Rows that stand for several.
constexpr std::string_view kSeveral[] = {"(smaller ones)", "(others)", "(no recorded event)"};

json NameOrNull(std::string_view name, PageStrings& strings) {
  const bool several = name.empty() || std::find(std::begin(kSeveral), std::end(kSeveral), name) !=
                                           std::end(kSeveral);
  return several ? json(nullptr) : json(strings.Add(std::string(name)));
}

size_t PlaceOfColumn(const ResultTable& table, std::string_view key) {
  const auto at = std::find_if(table.columns.begin(), table.columns.end(),
                               [&](const ResultColumn& column) { return column.key == key; });
  return static_cast<size_t>(at - table.columns.begin());
}

// name_of(row) for each of the rows.
template <typename NameOf>
json Named(std::string_view events, size_t rows, PageStrings& strings, NameOf&& name_of) {
  json names = json::array();
  for (size_t row = 0; row < rows; ++row) names.push_back(NameOrNull(name_of(row), strings));
  return {{"table", events}, {"names", std::move(names)}};
}

std::string TextOf(const ResultTable& table, size_t row, size_t column) {
  const auto* text = std::get_if<std::string>(&table.rows[row][column]);
  return text == nullptr ? "" : *text;
}

// Ranges that differ by a number are one row, "epoch #": what stands before it finds them.
std::string WithoutMark(std::string name) {
  const size_t mark = name.find('#');
  if (mark != name.npos && mark > 0) name.resize(mark);
  return name;
}

// Some calls are counted only.
json OfOsCalls(const ResultTable& table, size_t rows, PageStrings& strings) {
  const size_t call = PlaceOfColumn(table, "call");
  const size_t recorded = PlaceOfColumn(table, "recorded");
  if (std::max(call, recorded) >= table.columns.size()) return nullptr;
  return Named("os_calls", rows, strings, [&](size_t row) {
    const auto* count = std::get_if<int64_t>(&table.rows[row][recorded]);
    return count != nullptr && *count == 0 ? std::string() : TextOf(table, row, call);
  });
}

json OfTree(const AttributionTree& tree, size_t rows) {
  json from = json::array(), to = json::array();
  for (size_t row = 0; row < rows; ++row) {
    from.push_back(tree.nodes[row].longest.start_ns);
    to.push_back(tree.nodes[row].longest.end_ns);
  }
  return {{"from", std::move(from)}, {"to", std::move(to)}};
}

}  // namespace

json RowEvents(const RunOverview& overview, const ResultTable& table, size_t rows,
               PageStrings& strings) {
  if (table.name == "attribution" && table.rows.size() == overview.tree.nodes.size()) {
    return OfTree(overview.tree, rows);
  }
  const GpuSummary& gpu = overview.gpu;
  if (table.name == "copies" && table.rows.size() == gpu.copies.size()) {
    return Named("memcpys", rows, strings, [&](size_t row) {
      const CopyRow& copy = gpu.copies[row];
      return MemcpyName(copy.kind, copy.source, copy.destination);
    });
  }
  if (table.name == "waits" && table.rows.size() == gpu.waits.size()) {
    return Named("api_calls", rows, strings, [&](size_t row) {
      return std::string(PlainApiName(overview.store->Text(gpu.waits[row].call)));
    });
  }
  const std::vector<CollectiveRow>& collectives = overview.distributed.collectives;
  if (table.name == "collectives" && table.rows.size() == collectives.size()) {
    return Named("collectives", rows, strings, [&](size_t row) {
      return timeline::CollectiveName(collectives[row].operation, collectives[row].message_bytes);
    });
  }
  if (table.name == "os_calls") return OfOsCalls(table, rows, strings);
  const auto* const named =
      std::find_if(std::begin(kNamedRows), std::end(kNamedRows),
                   [&](const NamedRows& one) { return one.table == table.name; });
  if (named == std::end(kNamedRows)) return nullptr;
  const size_t column = PlaceOfColumn(table, named->column);
  if (column == table.columns.size()) return nullptr;
  return Named(named->events, rows, strings, [&](size_t row) {
    std::string name = TextOf(table, row, column);
    return table.name == "nvtx_ranges" ? WithoutMark(std::move(name)) : name;
  });
}

}  // namespace batchlight
