#include "analysis/python/function_counts.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/saturating_add.h"

namespace batchlight {
namespace {

using FunctionKey = std::tuple<StringId, uint32_t, std::string_view>;  // file, line, name

// Rows by falling time, and where each went.
std::vector<uint32_t> OrderBySelf(const std::vector<PythonFunctionCounts>& functions) {
  std::vector<uint32_t> order(functions.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return functions[a].counts.self_ns > functions[b].counts.self_ns;
  });
  return order;
}

}  // namespace

void PythonCallCounts::Add(const PythonCallCounts& more) {
  SaturatingAdd(calls, more.calls);
  SaturatingAdd(primitive_calls, more.primitive_calls);
  SaturatingAdd(self_ns, more.self_ns);
  SaturatingAdd(total_ns, more.total_ns);
}

std::vector<PythonFunctionCounts> CountPythonFunctions(const Store& store, bool by_bare_name) {
  const PythonFunctionsTable& table = store.python_functions;
  std::map<FunctionKey, uint32_t> rows;
  std::vector<PythonFunctionCounts> merged;
  std::vector<uint32_t> row_of(table.size(), kNoRow);
  for (size_t i = 0; i < table.size(); ++i) {
    if (table.lines_only[i] == YesNo::kYes) continue;
    const std::string_view name = store.Text(table.name[i]);
    const auto [place, added] =
        rows.try_emplace({table.file[i], table.first_line[i],
                          by_bare_name ? BareName(store.Text(table.file[i]), name) : name},
                         static_cast<uint32_t>(merged.size()));
    if (added) {
      merged.push_back(
          {.file = table.file[i], .name = table.name[i], .first_line = table.first_line[i]});
    }
    PythonFunctionCounts& function = merged[row_of[i] = place->second];
    function.thinned = function.thinned || table.thinned[i] == YesNo::kYes;
    SaturatingAdd(function.resumptions, table.resumptions[i]);
    function.counts.Add(
        {table.calls[i], table.primitive_calls[i], table.self_ns[i], table.total_ns[i]});
  }

  const std::vector<uint32_t> order = OrderBySelf(merged);
  std::vector<uint32_t> place_of(order.size());
  for (uint32_t i = 0; i < order.size(); ++i) place_of[order[i]] = i;
  std::map<std::pair<uint32_t, uint32_t>, PythonCallCounts> shares;
  const PythonCallersTable& callers = store.python_callers;
  for (size_t i = 0; i < callers.size(); ++i) {
    if (callers.function[i].IsNone() || callers.caller[i].IsNone()) continue;
    const uint32_t function = row_of[callers.function[i].row()];
    const uint32_t caller = row_of[callers.caller[i].row()];
    if (function == kNoRow || caller == kNoRow) continue;
    shares[{place_of[function], place_of[caller]}].Add(
        {callers.calls[i], callers.primitive_calls[i], callers.self_ns[i], callers.total_ns[i]});
  }

  std::vector<PythonFunctionCounts> functions;
  functions.reserve(order.size());
  for (const uint32_t row : order) functions.push_back(std::move(merged[row]));
  for (const auto& [pair, counts] : shares) {
    if (counts.calls > 0) functions[pair.first].callers.push_back({pair.second, counts});
  }
  return functions;
}

std::string_view BareName(std::string_view file, std::string_view qualified) {
  if (file == kBuiltinFile) return qualified;
  return qualified.substr(qualified.rfind('.') + 1);
}

std::string PythonLabel(std::string_view file, uint32_t first_line, std::string_view name) {
  if (file == kBuiltinFile) {
    if (name.starts_with('<') && name.ends_with('>')) name = name.substr(1, name.size() - 2);
    return "{" + std::string(name) + "}";
  }
  return std::string(file) + ":" + std::to_string(first_line) + "(" + std::string(name) + ")";
}

}  // namespace batchlight
