// What `profile --measure-overhead` measured: the same program with and without the profiler, in
// rounds. Of each round:
//   - the program without the profiler: the time from its start to its end;
//   - the program with only the ends of its steps recorded: the time of a step without the
//     profiler;
//   - the program recorded as requested: both times.
// Overhead = median with / median without - 1; the spread is that of the single rounds.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/steps/steps.h"
#include "store/store.h"

namespace batchlight {

// Properties of a recording, lists of whole numbers separated by commas, one for each round. The
// recording itself is the last round with the profiler, and not in the lists.
inline constexpr std::string_view kPlainWallKey = "overhead.plain_wall_ns";
inline constexpr std::string_view kPlainStepKey = "overhead.plain_step_ns";  // median step
inline constexpr std::string_view kProfiledWallKey = "overhead.profiled_wall_ns";
inline constexpr std::string_view kProfiledStepKey = "overhead.profiled_step_ns";
inline constexpr std::string_view kStepMarkerKey =
    "overhead.step_marker";  // what the steps ended with
inline constexpr std::string_view kOverheadProblemKey = "overhead.problem";  // in words
inline constexpr std::string_view kWallKey = "session.wall_ns";  // of this recording's program

struct OverheadOf {
  double plain_ns = 0;  // median of the rounds
  double profiled_ns = 0;
  double low = 0;  // the round with least and the one with most overhead, as `overhead`
  double high = 0;
  size_t rounds = 0;  // 0 = not known

  double overhead() const { return profiled_ns / plain_ns - 1; }  // 0.03 = 3 % slower
};

struct MeasuredOverhead {
  bool asked = false;   // for --measure-overhead
  std::string problem;  // why nothing is known, or steps are not
  OverheadOf wall;      // of the whole program
  OverheadOf step;
};

MeasuredOverhead ReadMeasuredOverhead(const Store& store, const StepSet& steps);

// Median time of a step of the main process; 0 if there are none.
int64_t MedianStepNs(const StepSet& steps);
// What ends a step, as kStepMarkerKey has it; "" if steps are found by their period.
std::string StepMarkerOf(const StepSet& steps);

}  // namespace batchlight
