#include "timeline/answers/range_tables.h"

#include <algorithm>
#include <unordered_map>

#include "analysis/overview/run_overview.h"
#include "analysis/result/result_column.h"
#include "analysis/steps/step_lookup.h"
#include "analysis/tables/registry.h"

namespace batchlight::timeline {
namespace {

struct NameInRange {
  std::string table;
  std::string name;
  uint64_t count = 0;
  int64_t total_ns = 0;
  int64_t longest_ns = 0;
};

// Without those that list every event or are about the run as a whole.
constexpr std::string_view kTables[] = {
    "phases",    "operators", "operators_by_shape", "modules", "kernels",     "gpu_parts",
    "copies",    "waits",     "collectives",        "ranks",   "nvtx_ranges", "steps",
    "gpu_steps", "roofline"};
constexpr size_t kMostRows = 2000;

bool IsWanted(const RangeRequest& request, std::string_view key) {
  return request.keys.empty() ||
         std::find(request.keys.begin(), request.keys.end(), key) != request.keys.end();
}

// Places of the first and last step that the request is about; false: it touches none.
bool FindPlaces(const ProcessSteps& process, const RangeRequest& request, size_t* first,
                size_t* last) {
  const std::vector<Step>& steps = process.steps;
  if (request.by_steps) {
    const auto place = [&](int64_t number) {
      return static_cast<size_t>(
          std::find_if(steps.begin(), steps.end(),
                       [&](const Step& step) { return step.number == number; }) -
          steps.begin());
    };
    *first = place(request.first_step);
    *last = place(request.last_step);
    return *first < steps.size() && *last < steps.size() && *first <= *last;
  }
  *first = StepLookup::FirstUnfinished(steps, request.from_ns);
  if (*first == steps.size() || steps[*first].start_ns >= request.to_ns) return false;
  *last = *first;
  while (*last + 1 < steps.size() && steps[*last + 1].start_ns < request.to_ns) ++*last;
  return true;
}

void AddTablesOfSteps(const Timeline& timeline, const RangeRequest& request, size_t first,
                      size_t last, RangeTables& result) {
  StepOptions steps = request.steps;
  steps.first_step = static_cast<int64_t>(first);
  steps.last_step = static_cast<int64_t>(last);
  const RunOverview overview = BuildOverview(timeline.store(), {.steps = steps});
  for (const std::string_view key : kTables) {
    if (!IsWanted(request, key)) continue;
    const TableEntry* entry = FindOverviewTable(key);
    if (entry == nullptr) continue;
    ResultTable table = entry->make(overview);
    if (table.rows.empty()) continue;
    if (table.rows.size() > kMostRows) {
      result.notes.push_back(table.title + ": the first " + std::to_string(kMostRows) + " of " +
                             std::to_string(table.rows.size()) + " rows");
      table.rows.resize(kMostRows);
    }
    result.tables.push_back(std::move(table));
  }
}

Columns<NameInRange> EventColumns() {
  return {
      {TextColumn("kind", "Kind", "what the event is"),
       [](const NameInRange& row) { return row.table; }},
      {TextColumn("name", "Name", ""), [](const NameInRange& row) { return row.name; }},
      {CountColumn("count", "Events", "events that touch the range"), Number(&NameInRange::count)},
      {TimeColumn("total_ns", "Total", "their time within the range"),
       [](const NameInRange& row) { return Cell{row.total_ns}; }},
      {TimeColumn("longest_ns", "Longest", "the most that one of them has within the range"),
       [](const NameInRange& row) { return Cell{row.longest_ns}; }}};
}

}  // namespace

ResultTable EventsInRange(const Timeline& timeline, int64_t from_ns, int64_t to_ns) {
  const Events& events = timeline.events();
  std::vector<NameInRange> rows;
  for (const EventTable& table : events.tables()) {
    std::unordered_map<uint32_t, size_t> places;
    for (uint32_t row = 0; row < table.rows; ++row) {
      const int64_t start_ns = table.start_ns[row];
      if (start_ns >= to_ns) continue;
      const int64_t end_ns = events.End(table.first_ref + row);
      if (end_ns <= from_ns && start_ns < from_ns) continue;
      const uint32_t name = Events::NameOfRow(table, row);
      const auto [at, is_new] = places.try_emplace(name, rows.size());
      if (is_new) {
        rows.push_back(
            {.table = std::string(table.title), .name = std::string(timeline.names().Text(name))});
      }
      NameInRange& sum = rows[at->second];
      const int64_t inside_ns = std::min(end_ns, to_ns) - std::max(start_ns, from_ns);
      ++sum.count;
      sum.total_ns += inside_ns;
      sum.longest_ns = std::max(sum.longest_ns, inside_ns);
    }
  }
  std::stable_sort(rows.begin(), rows.end(), [](const NameInRange& a, const NameInRange& b) {
    return a.total_ns > b.total_ns;
  });
  if (rows.size() > kMostRows) rows.resize(kMostRows);
  return TableOf("events", "Events by name", EventColumns(), rows);
}

RangeTables MakeRangeTables(const Timeline& timeline, const RangeRequest& request) {
  RangeTables result{.from_ns = request.from_ns, .to_ns = request.to_ns};
  const ProcessSteps* process = timeline.steps().Main();
  size_t first = 0;
  size_t last = 0;
  const bool has_steps = process != nullptr && FindPlaces(*process, request, &first, &last);
  if (request.by_steps) {
    if (!has_steps) {
      result.problem = "there are no such steps";
      return result;
    }
    result.from_ns = process->steps[first].start_ns;
    result.to_ns = process->steps[last].end_ns;
  }
  if (IsWanted(request, "events")) {
    result.tables.push_back(EventsInRange(timeline, result.from_ns, result.to_ns));
  }
  if (!has_steps) {
    result.notes.push_back("no step lies here: only the events themselves are summed");
    return result;
  }
  result.first_step = process->steps[first].number;
  result.last_step = process->steps[last].number;
  result.whole_steps = process->steps[first].start_ns == result.from_ns &&
                       process->steps[last].end_ns == result.to_ns;
  if (!result.whole_steps) {
    result.notes.push_back(
        "the events by name are of exactly this time, the other tables of the whole steps that it "
        "touches");
  }
  AddTablesOfSteps(timeline, request, first, last, result);
  return result;
}

}  // namespace batchlight::timeline
