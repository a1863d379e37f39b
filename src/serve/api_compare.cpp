#include <algorithm>
#include <unordered_set>
#include <vector>

#include "analysis/diff/run_diff.h"
#include "analysis/overview/run_overview.h"
#include "analysis/result/result_column.h"
#include "report/text/utf8.h"
#include "serve/api.h"
#include "serve/table_json.h"

namespace batchlight::serve {
namespace {

using nlohmann::json;

// Without calls where they mean nothing, as those of phases.
Columns<Change> ColumnsOf(const std::vector<Change>& changes) {
  Columns<Change> columns{
      {TextColumn("name", "Name", ""), [](const Change& row) { return row.name; }},
      {TimeColumn("a_ns", "A", "mean of a steady step of the first run"),
       Nanoseconds(&Change::a_ns)},
      {TimeColumn("b_ns", "B", "the same of the second run"), Nanoseconds(&Change::b_ns)},
      {TimeColumn("delta_ns", "Difference", "B - A"),
       [](const Change& row) { return NanosecondsCell(row.delta_ns()); }}};
  const bool counted = std::any_of(changes.begin(), changes.end(), [](const Change& row) {
    return row.a_calls != 0 || row.b_calls != 0;
  });
  if (!counted) return columns;
  // What the others add up to, and what they leave, is not called.
  const auto calls = [](double Change::*side) {
    return [side](const Change& row) {
      return row.a_calls == 0 && row.b_calls == 0 ? Cell() : Cell(row.*side);
    };
  };
  columns.push_back({RealColumn("a_calls", "Calls A", "in a step"), calls(&Change::a_calls)});
  columns.push_back({RealColumn("b_calls", "Calls B", "in a step"), calls(&Change::b_calls)});
  return columns;
}

// Steps of both runs with the same number.
json PairedSteps(const StepSet& a, const StepSet& b) {
  json pairs = json::array();
  if (a.Main() == nullptr || b.Main() == nullptr) return pairs;
  std::unordered_set<int64_t> numbers;
  for (const Step& step : b.Main()->steps) numbers.insert(step.number);
  for (const Step& step : a.Main()->steps) {
    if (numbers.contains(step.number)) pairs.push_back({{"a", step.number}, {"b", step.number}});
  }
  return pairs;
}

}  // namespace

HttpResponse AnswerCompare(const ApiContext& context, const Snapshot& run, JsonRequest&) {
  if (context.runs.size() < 2) {
    return ErrorResponse(404, "unknown",
                         "one run is open: `batchlight view RUN RUN2` compares two");
  }
  const std::shared_ptr<const Snapshot> other = context.runs[1]->snapshot();
  if (other == nullptr) {
    return ErrorResponse(409, "generation", "the second run is still being read");
  }
  const RunOverview a = BuildOverview(run.store(), {.steps = run.step_options()});
  const RunOverview b = BuildOverview(other->store(), {.steps = other->step_options()});
  const RunDiff diff = DiffRuns(a, b);
  json tables = json::array();
  for (const ChangeList& list : diff.lists) {
    std::vector<Change> rows = list.changes;
    if (!rows.empty()) {
      rows.insert(rows.begin(), {.name = list.whole, .a_ns = list.a_ns, .b_ns = list.b_ns});
    }
    tables.push_back(TableJson(TableOf(list.key, list.title, ColumnsOf(rows), rows)));
  }
  return JsonResponse({{"tables", std::move(tables)},
                       {"steps", PairedSteps(a.steps, b.steps)},
                       {"commands", {CleanText(a.session.command), CleanText(b.session.command)}},
                       {"problem", diff.problem}});
}

}  // namespace batchlight::serve
