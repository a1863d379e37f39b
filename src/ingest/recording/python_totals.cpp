#include "ingest/recording/python_totals.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "base/saturating_add.h"
#include "store/row_order.h"

namespace batchlight {
namespace {

void MergeFunctions(Store& store) {
  std::map<std::tuple<ThreadId, StringId, StringId, uint32_t>, PythonFunctionId> rows;
  std::vector<uint32_t> new_rows;
  PythonFunctionsTable merged;
  for (size_t i = 0; i < store.python_functions.size(); ++i) {
    const PythonFunctionsRow row = store.python_functions.Row(i);
    const auto [place, added] = rows.try_emplace({row.thread, row.file, row.name, row.first_line},
                                                 PythonFunctionId::At(merged.size()));
    new_rows.push_back(place->second.value);
    if (added) {
      merged.Append(row);
      continue;
    }
    const size_t to = place->second.row();
    merged.thinned[to] = std::max(merged.thinned[to], row.thinned);
    merged.lines_only[to] = std::min(merged.lines_only[to], row.lines_only);
    SaturatingAdd(merged.calls[to], row.calls);
    SaturatingAdd(merged.primitive_calls[to], row.primitive_calls);
    SaturatingAdd(merged.resumptions[to], row.resumptions);
    SaturatingAdd(merged.self_ns[to], row.self_ns);
    SaturatingAdd(merged.total_ns[to], row.total_ns);
  }
  store.python_functions = std::move(merged);
  RenumberIds<PythonFunctionId>(store, new_rows);
}

void MergeCallers(PythonCallersTable& table) {
  std::map<std::pair<PythonFunctionId, PythonFunctionId>, size_t> rows;
  PythonCallersTable merged;
  for (size_t i = 0; i < table.size(); ++i) {
    const PythonCallersRow row = table.Row(i);
    const auto [place, added] = rows.try_emplace({row.function, row.caller}, merged.size());
    if (added) {
      merged.Append(row);
      continue;
    }
    const size_t to = place->second;
    SaturatingAdd(merged.calls[to], row.calls);
    SaturatingAdd(merged.primitive_calls[to], row.primitive_calls);
    SaturatingAdd(merged.self_ns[to], row.self_ns);
    SaturatingAdd(merged.total_ns[to], row.total_ns);
  }
  table = std::move(merged);
}

void MergeLines(PythonLinesTable& table) {
  std::map<std::pair<PythonFunctionId, uint32_t>, PythonLinesRow> rows;
  for (size_t i = 0; i < table.size(); ++i) {
    const PythonLinesRow row = table.Row(i);
    const auto [place, added] = rows.try_emplace({row.function, row.line}, row);
    if (added) continue;
    SaturatingAdd(place->second.hits, row.hits);
    SaturatingAdd(place->second.time_ns, row.time_ns);
    SaturatingAdd(place->second.grown_bytes, row.grown_bytes);
    SaturatingAdd(place->second.allocated_bytes, row.allocated_bytes);
    place->second.memory_bytes = std::max(place->second.memory_bytes, row.memory_bytes);
  }
  table.Clear();
  for (const auto& [key, row] : rows) table.Append(row);
}

// Said again in each capture.
void MergeSources(PythonSourcesTable& table) {
  std::map<std::tuple<ProcessId, StringId, StringId, uint32_t>, size_t> rows;
  PythonSourcesTable merged;
  for (size_t i = 0; i < table.size(); ++i) {
    const PythonSourcesRow row = table.Row(i);
    if (rows.try_emplace({row.process, row.file, row.name, row.first_line}, i).second) {
      merged.Append(row);
    }
  }
  table = std::move(merged);
}

}  // namespace

void AddUpPython(Store& store) {
  MergeFunctions(store);
  MergeCallers(store.python_callers);
  MergeLines(store.python_lines);
  MergeSources(store.python_sources);
}

}  // namespace batchlight
