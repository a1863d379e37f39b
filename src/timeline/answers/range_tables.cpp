#include "timeline/answers/range_tables.h"

#include <algorithm>

#include "analysis/result/table_columns.h"
#include "analysis/steps/step_lookup.h"
#include "analysis/tables/registry.h"
#include "timeline/answers/events_in_range.h"
#include "timeline/answers/memory_in_range.h"

namespace batchlight::timeline {
namespace {

struct PartTable {
  std::string_view key;
  StepMeasure measure;  // that the table shows
};

// In their order, what the summary begins with first. Without those that list every event or are
// about the run as a whole.
constexpr PartTable kTables[] = {{"phases", StepMeasure::kBreakdowns},
                                 {"gpu_parts", StepMeasure::kGpu},
                                 {"operators", StepMeasure::kOperators},
                                 {"kernels", StepMeasure::kGpu},
                                 {"modules", StepMeasure::kModules},
                                 {"operators_by_shape", StepMeasure::kOperators},
                                 {"copies", StepMeasure::kGpu},
                                 {"waits", StepMeasure::kGpu},
                                 {"collectives", StepMeasure::kDistributed},
                                 {"ranks", StepMeasure::kDistributed},
                                 {"nvtx_ranges", StepMeasure::kNvtx},
                                 {"steps", StepMeasure::kBreakdowns},
                                 {"gpu_steps", StepMeasure::kGpu},
                                 {"roofline", StepMeasure::kRoofline}};
constexpr size_t kMostRows = 2000;

bool IsWanted(const RangeRequest& request, std::string_view key) {
  return request.keys.empty() ||
         std::find(request.keys.begin(), request.keys.end(), key) != request.keys.end();
}

// Leaves what is of the steps with these numbers: no column of the whole run, no other step's row,
// none that they have nothing of.
void KeepWhatIsOfSteps(int64_t first_step, int64_t last_step, ResultTable& table) {
  std::vector<size_t> kept;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    if (!table.columns[i].of_whole_run) kept.push_back(i);
  }
  const auto lies_elsewhere = [&](const std::vector<Cell>& row) {
    for (size_t i = 0; i < table.columns.size(); ++i) {
      const ResultColumn& column = table.columns[i];
      const int64_t* number = std::get_if<int64_t>(&row[i]);
      // A step's number; of a table of ranks it is a step's time.
      if (column.key == "step" && column.unit == Unit::kNone && number != nullptr &&
          (*number < first_step || *number > last_step)) {
        return true;
      }
      if (column.key == "calls_per_step" && row[i] == Cell{0.0}) return true;
    }
    return false;
  };
  std::erase_if(table.rows, lies_elsewhere);
  KeepColumns(kept, &table);
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

StepMeasures MeasuresFor(const RangeRequest& request) {
  StepMeasures measures;
  for (const PartTable& table : kTables) {
    if (IsWanted(request, table.key)) measures.set(static_cast<size_t>(table.measure));
  }
  if (measures[static_cast<size_t>(StepMeasure::kDistributed)]) {
    measures.set(static_cast<size_t>(StepMeasure::kGpu));
  }
  return measures;
}

}  // namespace

void RangeTableMaker::AddMemory(RangeTables& result) {
  const Store& store = timeline_.store();
  if (store.gpu_memory_events.size() == 0) return;
  const std::lock_guard lock(mutex_);
  if (!memory_) memory_ = GpuMemoryCurves(store, timeline_.steps(), SIZE_MAX);
  ResultTable table = MemoryInRange(store, *memory_, result.from_ns, result.to_ns);
  if (!table.rows.empty()) result.tables.push_back(std::move(table));
}

void RangeTableMaker::AddTablesOfSteps(const RangeRequest& request, size_t first, size_t last,
                                       RangeTables& result) {
  const StepMeasures measures = MeasuresFor(request);
  if (measures.none()) return;
  StepOptions steps = steps_;
  steps.first_step = static_cast<int64_t>(first);
  steps.last_step = static_cast<int64_t>(last);
  const std::lock_guard lock(mutex_);
  measurer_.Measure(steps, measures, overview_);
  for (const auto& [key, measure] : kTables) {
    if (!IsWanted(request, key)) continue;
    const TableEntry* entry = FindOverviewTable(key);
    if (entry == nullptr) continue;
    ResultTable table = entry->make(overview_);
    KeepWhatIsOfSteps(result.first_step, result.last_step, table);
    if (table.rows.empty()) continue;
    if (table.rows.size() > kMostRows) {
      result.notes.push_back(table.title + ": the first " + std::to_string(kMostRows) + " of " +
                             std::to_string(table.rows.size()) + " rows");
      table.rows.resize(kMostRows);
    }
    result.tables.push_back(std::move(table));
  }
}

void RangeTableMaker::AddTablesOfTime(const RangeRequest& request, RangeTables& result) {
  if (IsWanted(request, "events")) {
    result.tables.push_back(EventsInRange(timeline_, result.from_ns, result.to_ns));
  }
  if (IsWanted(request, "memory")) AddMemory(result);
}

RangeTables RangeTableMaker::Make(const RangeRequest& request) {
  RangeTables result{.from_ns = request.from_ns, .to_ns = request.to_ns};
  const ProcessSteps* process = timeline_.steps().Main();
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
  if (!has_steps) {
    result.notes.push_back("no step lies here: only the events themselves are summed");
    AddTablesOfTime(request, result);
    return result;
  }
  result.first_step = process->steps[first].number;
  result.last_step = process->steps[last].number;
  result.whole_steps = process->steps[first].start_ns == result.from_ns &&
                       process->steps[last].end_ns == result.to_ns;
  if (!result.whole_steps) {
    result.notes.push_back(
        "events by name and memory are of exactly this time, the other tables of the whole steps "
        "that it touches");
  }
  AddTablesOfSteps(request, first, last, result);
  AddTablesOfTime(request, result);
  return result;
}

}  // namespace batchlight::timeline
