// The report's tables over a part of the run: made by the same analyses, so that they have the same
// numbers as `summary` of these steps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/result/result_table.h"
#include "timeline/index/timeline.h"

namespace batchlight::timeline {

struct RangeRequest {
  int64_t from_ns = 0;  // unless by_steps
  int64_t to_ns = 0;
  bool by_steps = false;
  int64_t first_step = 0;  // numbers of steps, as shown
  int64_t last_step = 0;
  StepOptions steps;              // how the run's steps were found
  std::vector<std::string> keys;  // tables that are wanted; empty: all that have rows
};

struct RangeTables {
  std::string problem;  // the request's, or ""
  int64_t from_ns = 0;
  int64_t to_ns = 0;
  bool whole_steps = false;  // the tables are of these steps
  int64_t first_step = 0;
  int64_t last_step = 0;
  std::vector<std::string> notes;
  std::vector<ResultTable> tables;
};

// First the events of exactly this time by name (`events`), then the tables of the steps that it
// touches.
RangeTables MakeRangeTables(const Timeline& timeline, const RangeRequest& request);

// The events that touch [from, to), by name: how many, and how much of their time lies in it.
ResultTable EventsInRange(const Timeline& timeline, int64_t from_ns, int64_t to_ns);

}  // namespace batchlight::timeline
