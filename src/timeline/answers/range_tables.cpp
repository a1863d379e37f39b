#include "timeline/answers/range_tables.h"

#include <algorithm>

#include "analysis/result/table_columns.h"
#include "analysis/steps/step_lookup.h"
#include "analysis/tables/overview_tables.h"
#include "analysis/tables/registry.h"
#include "timeline/answers/events_in_range.h"
#include "timeline/answers/memory_in_range.h"

namespace batchlight::timeline {
namespace {

struct PartTable {
  std::string_view key;
  StepMeasure measure;       // that the table shows
  std::string_view order{};  // column by whose numbers its rows stand; "": as they are made
  bool lists_steps = false;  // a row is a step: a part of one has none
};

// In their order, what the summary begins with first. Without those that list every event or are
// about the run as a whole.
constexpr PartTable kTables[] = {{"phases", StepMeasure::kBreakdowns},
                                 {"gpu_parts", StepMeasure::kGpu},
                                 {"operators", StepMeasure::kOperators, "self_per_step"},
                                 {"kernels", StepMeasure::kGpu, "time_per_step"},
                                 {"modules", StepMeasure::kModules},
                                 {"operators_by_shape", StepMeasure::kOperators, "self_per_step"},
                                 {"copies", StepMeasure::kGpu, "time_per_step"},
                                 {"waits", StepMeasure::kGpu, "time_per_step"},
                                 {"collectives", StepMeasure::kDistributed},
                                 {"ranks", StepMeasure::kDistributed},
                                 {"nvtx_ranges", StepMeasure::kNvtx, "total_per_step"},
                                 {"steps", StepMeasure::kBreakdowns, "", true},
                                 {"gpu_steps", StepMeasure::kGpu, "", true},
                                 {"roofline", StepMeasure::kRoofline}};
constexpr size_t kMostRows = 2000;

bool IsWanted(const RangeRequest& request, std::string_view key) {
  return request.keys.empty() ||
         std::find(request.keys.begin(), request.keys.end(), key) != request.keys.end();
}

// Whether a row is about a step that the range does not touch. Processes are told apart by their
// ranks too, as those of several hosts may have one pid.
bool IsOfOtherStep(const RangeTables& range, const std::vector<ResultColumn>& columns,
                   const std::vector<Cell>& row) {
  const auto number_in = [&](std::string_view key) -> const int64_t* {
    for (size_t i = 0; i < columns.size(); ++i) {
      // `step` is a time in tables of ranks.
      if (columns[i].key == key && columns[i].unit == Unit::kNone)
        return std::get_if<int64_t>(&row[i]);
    }
    return nullptr;
  };
  const int64_t *step = number_in("step"), *pid = number_in("pid"), *rank = number_in("rank");
  if (step == nullptr) return false;
  bool known = false;
  for (const TouchedSteps& process : range.processes) {
    if (pid == nullptr || process.pid != *pid || (rank != nullptr && process.rank != *rank))
      continue;
    if (*step >= process.first_step && *step <= process.last_step) return false;
    known = true;
  }
  return known || *step < range.first_step || *step > range.last_step;
}

// Whether nothing of what a row tells per step lies in these steps: no call, or where these are not
// told, no time (`mean` of phases). Of a stretch of time calls that began before are part too.
bool HasNothingPerStep(const std::vector<ResultColumn>& columns, const std::vector<Cell>& row,
                       bool whole_steps) {
  bool has_column = false;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (!columns[i].key.ends_with("_per_step") && columns[i].key != "mean") continue;
    const bool is_zero = row[i] == Cell{0.0} || row[i] == Cell{int64_t{0}};
    if (whole_steps && columns[i].key == "calls_per_step") return is_zero;
    if (!is_zero) return false;
    has_column = true;
  }
  return has_column;
}

// Median, percentiles and the sum of steps say of one step what its mean does.
bool IsOverSteps(const ResultColumn& column) {
  return column.key == "median" || column.key == "p5" || column.key == "p95" ||
         column.key == "total";
}

// Leaves what is of the steps of the range: no column of the whole run, no other step's row, none
// that they have nothing of.
void KeepWhatIsOfSteps(const RangeTables& range, ResultTable& table) {
  std::vector<size_t> kept;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    const ResultColumn& column = table.columns[i];
    if (column.of_whole_run || (!range.whole_steps && IsOverSteps(column))) continue;
    kept.push_back(i);
  }
  std::erase_if(table.rows, [&](const std::vector<Cell>& row) {
    return HasNothingPerStep(table.columns, row, range.whole_steps) ||
           IsOfOtherStep(range, table.columns, row);
  });
  KeepColumns(kept, &table);
}

// What is unusually long is so among the steps of the run, not of the part.
void JudgeByAll(const StepSet& all, StepSet& part) {
  for (ProcessSteps& process : part.processes) {
    const ProcessSteps* judge = all.Of(process.process);
    if (judge == nullptr || judge->steps.size() != process.steps.size()) continue;
    for (size_t i = 0; i < process.steps.size(); ++i) {
      process.steps[i].outlier = judge->steps[i].outlier;
    }
  }
}

// What takes longest in these steps first: rows are made in the order of the whole run.
void OrderBy(std::string_view key, ResultTable& table) {
  const size_t column = ColumnWithKey(table, key);
  if (column == table.columns.size()) return;
  std::stable_sort(table.rows.begin(), table.rows.end(),
                   [&](const auto& a, const auto& b) { return b[column] < a[column]; });
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

// "steps 1 to 2 of rank 0, step 1 of rank 1"; "steps 1 to 2" where all are the same.
std::string StepsText(const std::vector<TouchedSteps>& processes) {
  const bool differ = std::any_of(processes.begin(), processes.end(), [&](const auto& steps) {
    return steps.first_step != processes.front().first_step ||
           steps.last_step != processes.front().last_step;
  });
  std::string text;
  for (const TouchedSteps& steps : processes) {
    const bool one = steps.last_step == steps.first_step;
    text += text.empty() ? "" : ", ";
    text += (one ? "step " : "steps ") + std::to_string(steps.first_step);
    if (!one) text += " to " + std::to_string(steps.last_step);
    if (!differ) break;
    text += steps.rank >= 0 ? " of rank " + std::to_string(steps.rank)
                            : " of process " + std::to_string(steps.pid);
  }
  return text;
}

// Whether a range has a table at all.
bool Has(const RangeTables& range, const PartTable& table) {
  return range.whole_steps || !table.lists_steps;
}

ResultTable MakeTable(std::string_view key, const RunOverview& overview) {
  if (key == "collectives") return MakeCollectivesOfStepsTable(overview);
  return FindOverviewTable(key)->make(overview);
}

// What the tables of a stretch of time are of.
std::string NoteOfTime(const RangeTables& range, bool has_tables) {
  if (!has_tables) return "no steps are known here: only the events themselves are summed";
  const std::string where =
      range.processes.empty() ? "outside of all steps" : "in " + StepsText(range.processes);
  return "of exactly this time, " + where + ", as if it were one step";
}

StepMeasures MeasuresFor(const RangeRequest& request, const RangeTables& range) {
  StepMeasures measures;
  for (const PartTable& table : kTables) {
    if (IsWanted(request, table.key) && Has(range, table))
      measures.set(static_cast<size_t>(table.measure));
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

void RangeTableMaker::AddTablesOfSteps(const RangeRequest& request, const StepOptions& steps,
                                       RangeTables& result) {
  const StepMeasures measures = MeasuresFor(request, result);
  if (measures.none()) return;
  const std::lock_guard lock(mutex_);
  if (result.whole_steps) {
    measurer_.Measure(steps, measures, overview_);
    JudgeByAll(timeline_.steps(), overview_.steps);
  } else {
    measurer_.MeasureWithin(steps, {result.from_ns, result.to_ns}, measures, overview_);
  }
  for (const PartTable& part : kTables) {
    if (!IsWanted(request, part.key) || !Has(result, part)) continue;
    ResultTable table = MakeTable(part.key, overview_);
    KeepWhatIsOfSteps(result, table);
    OrderBy(part.order, table);
    if (table.rows.empty()) continue;
    if (table.rows.size() > kMostRows && !request.all_rows) {
      result.cut[part.key] = table.rows.size();
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

// The steps to measure. `result` has which they are; none where its `processes` are none.
StepOptions RangeTableMaker::StepsOf(const RangeRequest& request, RangeTables& result) const {
  const std::vector<ProcessSteps>& processes = timeline_.steps().processes;
  StepOptions options = steps_;
  result.whole_steps = true;
  size_t first = 0;
  size_t last = 0;
  const bool is_there = request.process < processes.size();
  if (request.by_steps &&
      !(is_there && FindPlaces(processes[request.process], request, &first, &last))) {
    return options;
  }
  for (size_t i = 0; i < processes.size(); ++i) {
    const std::vector<Step>& steps = processes[i].steps;
    if (!request.by_steps && !FindPlaces(processes[i], request, &first, &last)) continue;
    if (first >= steps.size()) continue;
    const size_t end = std::min(last, steps.size() - 1);
    if (request.by_steps && i == request.process) {
      result.from_ns = steps[first].start_ns;
      result.to_ns = steps[end].end_ns;
    }
    options.parts.push_back(
        {processes[i].process, {static_cast<int64_t>(first), static_cast<int64_t>(end)}});
    result.processes.push_back({.rank = processes[i].rank,
                                .pid = timeline_.store().processes.pid[processes[i].process.row()],
                                .first_step = steps[first].number,
                                .last_step = steps[end].number});
    result.whole_steps =
        result.whole_steps && (request.by_steps || (steps[first].start_ns == result.from_ns &&
                                                    steps[end].end_ns == result.to_ns));
  }
  if (result.processes.empty()) {
    result.whole_steps = false;
    return options;
  }
  result.first_step = result.processes.front().first_step;
  result.last_step = result.processes.front().last_step;
  return options;
}

// "step 156 (epoch start)": of steps that count and others the others are left out of sums, as in
// the summary. "": all count, or none does and so all do.
std::string RangeTableMaker::NotCounted(const StepOptions& steps) const {
  constexpr size_t kMostTold = 3;
  std::string text;
  size_t apart = 0;
  for (const ProcessPart& part : steps.parts) {
    const ProcessSteps* process = timeline_.steps().Of(part.process);
    if (process == nullptr) continue;
    const auto first = static_cast<uint32_t>(part.steps.first_step);
    const auto last = static_cast<uint32_t>(part.steps.last_step);
    const auto in_range = [&](uint32_t row) { return row >= first && row <= last; };
    const std::vector<uint32_t>& steady = process->steady;
    if (std::none_of(steady.begin(), steady.end(), in_range)) continue;
    for (uint32_t row = first; row <= last; ++row) {
      if (std::binary_search(steady.begin(), steady.end(), row)) continue;
      if (++apart > kMostTold) continue;
      const Step& step = process->steps[row];
      text += (text.empty() ? "step " : ", step ") + std::to_string(step.number) + " (" +
              std::string(StepKindName(step.kind)) + ")";
    }
  }
  if (apart > kMostTold) text += " and " + std::to_string(apart - kMostTold) + " more";
  return text;
}

// The processes of which a stretch of time is a step: those with steps that ran meanwhile.
StepOptions RangeTableMaker::ProcessesWithin(const RangeTables& range) const {
  const ProcessesTable& all = timeline_.store().processes;
  StepOptions options = steps_;
  for (const ProcessSteps& process : timeline_.steps().processes) {
    const size_t row = process.process.row();  // files may not know when it began and ended
    const int64_t start_ns = std::min(all.start_ns[row], process.steps.front().start_ns);
    const int64_t end_ns = std::max(all.end_ns[row], process.steps.back().end_ns);
    if (start_ns >= range.to_ns || end_ns <= range.from_ns) continue;
    options.parts.push_back({.process = process.process});
  }
  return options;
}

RangeTables RangeTableMaker::Make(const RangeRequest& request) {
  RangeTables result{.from_ns = request.from_ns, .to_ns = request.to_ns};
  StepOptions steps = StepsOf(request, result);
  if (request.by_steps && result.processes.empty()) {
    result.problem = "there are no such steps";
    return result;
  }
  if (result.whole_steps) {
    if (std::string apart = NotCounted(steps); !apart.empty()) {
      result.notes.push_back("not counted but in the table of steps: " + std::move(apart));
    }
  } else {
    steps = ProcessesWithin(result);
    result.notes.push_back(NoteOfTime(result, !steps.parts.empty()));
  }
  if (!steps.parts.empty()) AddTablesOfSteps(request, steps, result);
  AddTablesOfTime(request, result);
  return result;
}

}  // namespace batchlight::timeline
