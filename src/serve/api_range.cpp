#include <cmath>

#include "report/page/page_columns.h"
#include "serve/api.h"
#include "timeline/range_tables.h"

namespace batchlight::serve {
namespace {

using nlohmann::json;

json CellJson(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* integer = std::get_if<int64_t>(&cell)) return *integer;
  const auto* real = std::get_if<double>(&cell);
  return real == nullptr || !std::isfinite(*real) ? json(nullptr) : json(*real);
}

json TableJson(const ResultTable& table) {
  json columns = json::array();
  for (const ResultColumn& column : table.columns) {
    json out = PageColumn(column);
    out.erase("sum");
    columns.push_back(std::move(out));
  }
  json rows = json::array();
  for (const std::vector<Cell>& cells : table.rows) {
    json row = json::array();
    for (const Cell& cell : cells) row.push_back(CellJson(cell));
    rows.push_back(std::move(row));
  }
  return {{"key", table.name},
          {"title", table.title},
          {"columns", std::move(columns)},
          {"rows", std::move(rows)}};
}

}  // namespace

HttpResponse AnswerRange(const ApiContext&, const Snapshot& run, JsonRequest& request) {
  timeline::RangeRequest range{.by_steps = request.Has("first_step"),
                               .steps = run.step_options(),
                               .keys = request.Texts("tables", 100)};
  if (range.by_steps) {
    range.first_step = request.Time("first_step");
    range.last_step = request.Time("last_step", range.first_step);
  } else {
    range.from_ns = request.Time("from");
    range.to_ns = request.Time("to");
  }
  if (!request.ok()) return BadRequest(request);
  if (range.to_ns < range.from_ns) {
    return ErrorResponse(400, "bad_request", "`to` lies before `from`");
  }
  const timeline::RangeTables made = MakeRangeTables(run.timeline(), range);
  if (!made.problem.empty()) return ErrorResponse(404, "unknown", made.problem);
  json tables = json::array();
  for (const ResultTable& table : made.tables) tables.push_back(TableJson(table));
  return JsonResponse({{"from", made.from_ns},
                       {"to", made.to_ns},
                       {"whole_steps", made.whole_steps},
                       {"first_step", made.first_step},
                       {"last_step", made.last_step},
                       {"notes", made.notes},
                       {"tables", std::move(tables)}});
}

}  // namespace batchlight::serve
