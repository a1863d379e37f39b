#include "analysis/python/line_counts.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "base/saturating_add.h"

namespace batchlight {
namespace {

struct Function {
  StringId name;
  std::map<uint32_t, PythonLineCounts> lines;
};
using FunctionPlace = std::tuple<std::string_view, uint32_t, std::string_view>;  // file, line, name

void SplitSource(std::string_view text, uint32_t line,
                 std::map<uint32_t, PythonLineCounts>& lines) {
  for (; !text.empty(); ++line) {
    const size_t end = text.find('\n');
    std::string_view one = text.substr(0, end);
    if (one.ends_with('\r')) one.remove_suffix(1);
    PythonLineCounts& counts = lines[line];
    counts.line = line;
    counts.text = one;
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
  }
}

}  // namespace

std::vector<PythonTimedFunction> CountPythonLines(const Store& store) {
  std::map<FunctionPlace, std::pair<StringId, Function>> functions;  // with the file's id
  const PythonSourcesTable& sources = store.python_sources;
  for (size_t i = 0; i < sources.size(); ++i) {
    auto& [file, function] = functions[{store.Text(sources.file[i]), sources.first_line[i],
                                        store.Text(sources.name[i])}];
    file = sources.file[i];
    function.name = sources.name[i];
    SplitSource(store.Text(sources.text[i]), sources.first_line[i], function.lines);
  }
  const PythonLinesTable& lines = store.python_lines;
  const PythonFunctionsTable& table = store.python_functions;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines.function[i].IsNone()) continue;
    const size_t row = lines.function[i].row();
    auto& [file, function] = functions[{store.Text(table.file[row]), table.first_line[row],
                                        store.Text(table.name[row])}];
    file = table.file[row];
    function.name = table.name[row];
    PythonLineCounts& counts = function.lines[lines.line[i]];
    counts.line = lines.line[i];
    SaturatingAdd(counts.hits, lines.hits[i]);
    SaturatingAdd(counts.time_ns, lines.time_ns[i]);
    SaturatingAdd(counts.grown_bytes, lines.grown_bytes[i]);
    SaturatingAdd(counts.allocated_bytes, lines.allocated_bytes[i]);
    counts.memory_bytes = std::max(counts.memory_bytes, lines.memory_bytes[i]);
  }
  std::vector<PythonTimedFunction> result;
  for (const auto& [key, entry] : functions) {
    PythonTimedFunction& function = result.emplace_back(PythonTimedFunction{
        .file = entry.first, .name = entry.second.name, .first_line = std::get<1>(key)});
    for (const auto& [line, counts] : entry.second.lines) {
      function.lines.push_back(counts);
      SaturatingAdd(function.total_ns, counts.time_ns);
      function.has_memory |= counts.allocated_bytes > 0 || counts.memory_bytes > 0;
    }
  }
  return result;
}

}  // namespace batchlight
