// The report's tables over a part of the run: made by the same analyses, so that they have the same
// numbers as `summary` of these steps.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/memory/gpu_memory.h"
#include "analysis/overview/run_overview.h"
#include "analysis/result/result_table.h"
#include "analysis/run/step_measurer.h"
#include "timeline/index/timeline.h"

namespace batchlight::timeline {

struct RangeRequest {
  int64_t from_ns = 0;  // unless by_steps
  int64_t to_ns = 0;
  bool by_steps = false;
  int64_t first_step = 0;  // numbers of steps, as shown
  int64_t last_step = 0;
  size_t process = 0;             // place in the timeline's steps: whose numbers these are
  std::vector<std::string> keys;  // tables that are wanted; empty: all that have rows
  bool all_rows = false;          // else the first of a long table
};

// The steps of one process that a range touches.
struct TouchedSteps {
  int32_t rank = -1;
  uint32_t pid = 0;
  int64_t first_step = 0;  // numbers
  int64_t last_step = 0;
};

struct RangeTables {
  std::string problem;  // the request's, or ""
  int64_t from_ns = 0;
  int64_t to_ns = 0;
  bool whole_steps = false;  // the tables are of these steps; else of the time, as of one step
  int64_t first_step = 0;
  int64_t last_step = 0;
  std::vector<TouchedSteps> processes;  // by rank, those whose steps it touches
  std::vector<std::string> notes;
  std::vector<ResultTable> tables;
  std::map<std::string_view, size_t> cut;  // by key, how many rows a table has that lacks some
};

// Keeps from the first request on what the tables of all parts have in common. For any thread; one
// request after the other.
class RangeTableMaker {
 public:
  // `steps`: how the timeline's steps were found. The timeline must outlive this.
  // `continued`: they are so in part only, and go on from those of another reading.
  RangeTableMaker(const Timeline& timeline, StepOptions steps, bool continued = false)
      : timeline_(timeline),
        steps_(std::move(steps)),
        measurer_(timeline.store(), continued ? &timeline.steps() : nullptr, timeline.basis()) {}

  // The tables of whole steps where the request is for such, of each process (rank) its own: steps
  // that are asked for by number are those of one process, and of others the ones in their places.
  // Else tables of exactly this time, which is taken as one step of each process. Last the events
  // by name (`events`) and GPU memory (`memory`), which are of the time in any case.
  RangeTables Make(const RangeRequest& request);

 private:
  void AddMemory(RangeTables& result);
  void AddTablesOfTime(const RangeRequest& request, RangeTables& result);
  void AddTablesOfSteps(const RangeRequest& request, const StepOptions& steps, RangeTables& result);
  StepOptions StepsOf(const RangeRequest& request, RangeTables& result) const;
  StepOptions ProcessesWithin(const RangeTables& range) const;
  std::string NotCounted(const StepOptions& steps) const;

  const Timeline& timeline_;
  const StepOptions steps_;
  std::mutex mutex_;  // of what follows
  StepMeasurer measurer_;
  RunOverview overview_;
  std::optional<std::vector<MemoryCurve>> memory_;  // found when first asked for
};

}  // namespace batchlight::timeline
