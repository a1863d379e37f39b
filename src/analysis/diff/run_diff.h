// What changed between two runs: how long a step takes, and which phases, operators, modules and
// kernels account for the difference. The changes in a list, including its row for the rest, add up
// to the change of the whole that the list is about.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/diff/confidence.h"
#include "analysis/overview/run_overview.h"

namespace batchlight {

enum class ChangeKind : uint8_t { kSame, kSlower, kFaster, kNew, kGone };

struct Change {
  std::string name;
  double a_ns = 0;  // mean per steady step
  double b_ns = 0;
  double a_calls = 0;  // per step; 0 where calls mean nothing
  double b_calls = 0;
  bool is_rest = false;  // what the other rows leave

  double delta_ns() const { return b_ns - a_ns; }
  ChangeKind kind() const;
};

struct ChangeList {
  std::string key;              // phases, gpu_parts, operators, modules, kernels
  std::string title;            // "Operators, own time"
  std::string whole;            // what the rows add up to: "step", "step on the GPU", "kernel time"
  std::vector<Change> changes;  // by falling size of the change; the rest last
  double a_ns = 0;              // of the whole, mean per step
  double b_ns = 0;
};

struct DiffSide {
  std::string source;
  std::string command;
  uint64_t steps = 0;  // steady ones, over all training processes
  double mean_ns = 0;
  int64_t median_ns = 0;          // of the main process
  std::optional<int64_t> p95_ns;  // nothing: too few steps
};

// A way in which the runs themselves differ: "PyTorch", "2.1.0", "2.2.0".
struct Difference {
  std::string what;
  std::string a;
  std::string b;
};

// A hardware counter that was read over whole steps in both runs: its mean of a step.
struct CounterChange {
  std::string name;  // "DRAM bandwidth"
  std::string metric;
  std::string unit;  // as in metrics.def; "": not known
  double a = 0;
  double b = 0;

  double relative() const { return a == 0 ? 0 : (b - a) / a; }
};

struct RunDiff {
  std::string problem;  // why steps cannot be compared, or ""
  DiffSide a;
  DiffSide b;
  Interval interval;  // 95 %, of b.mean - a.mean in ns
  std::vector<Difference> differences;
  std::vector<CounterChange> counters;  // of the first process and GPU that were measured
  std::vector<ChangeList> lists;        // empty ones left out

  double delta_ns() const { return b.mean_ns - a.mean_ns; }
  double relative() const { return a.mean_ns == 0 ? 0 : delta_ns() / a.mean_ns; }
  bool IsSure() const { return !interval.Contains(0); }
};

RunDiff DiffRuns(const RunOverview& a, const RunOverview& b);

std::string_view ChangeKindName(ChangeKind kind);  // "slower"

}  // namespace batchlight
