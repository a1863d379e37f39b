#include "serve/api.h"
#include "serve/table_json.h"
#include "timeline/answers/range_tables.h"

namespace batchlight::serve {

using nlohmann::json;

HttpResponse AnswerRange(const ApiContext&, const Snapshot& run, JsonRequest& request) {
  timeline::RangeRequest range{.by_steps = request.Has("first_step"),
                               .keys = request.Texts("tables", 100),
                               .all_rows = request.Integer("all_rows", 0, 1, 0) != 0};
  if (range.by_steps) {
    range.first_step = request.Time("first_step");
    range.last_step = request.Time("last_step", range.first_step);
    range.process = static_cast<size_t>(request.Integer("process", 0, UINT32_MAX, 0));
  } else {
    range.from_ns = request.Time("from");
    range.to_ns = request.Time("to");
  }
  if (!request.ok()) return BadRequest(request);
  if (range.to_ns < range.from_ns) {
    return ErrorResponse(400, "bad_request", "`to` lies before `from`");
  }
  const timeline::RangeTables made = run.MakeTables(range);
  if (!made.problem.empty()) return ErrorResponse(404, "unknown", made.problem);
  json tables = json::array();
  for (const ResultTable& table : made.tables) {
    tables.push_back(TableJson(table));
    const auto cut = made.cut.find(table.name);
    if (cut != made.cut.end()) tables.back()["total_rows"] = cut->second;
  }
  json processes = json::array();
  for (const timeline::TouchedSteps& steps : made.processes) {
    processes.push_back({{"rank", steps.rank},
                         {"pid", steps.pid},
                         {"first_step", steps.first_step},
                         {"last_step", steps.last_step}});
  }
  return JsonResponse({{"from", made.from_ns},
                       {"to", made.to_ns},
                       {"whole_steps", made.whole_steps},
                       {"first_step", made.first_step},
                       {"last_step", made.last_step},
                       {"processes", std::move(processes)},
                       {"notes", made.notes},
                       {"tables", std::move(tables)}});
}

}  // namespace batchlight::serve
