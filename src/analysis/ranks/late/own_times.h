// What a rank's CPU takes for itself by name, operators and modules: the median of its steps and
// the steps that take longer by far, so that little is kept of each of thousands of ranks. And what
// takes longer on the rank that the others wait for.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analysis/steps/steps.h"
#include "store/store.h"

namespace batchlight {

// Calls of one name, without those that they make, on the thread that runs the steps and those
// that run backward or launch kernels.
struct OwnTimesOfName {
  std::string name;            // "aten::mm"; of a module its path
  uint64_t calls = 0;          // in steps that count
  uint32_t median_us = 0;      // of these steps
  std::vector<uint32_t> rows;  // of steps that take longer, rising ...
  std::vector<uint32_t> us;    // ... and what each takes

  uint32_t UsOf(uint32_t row) const;
};

// Those with most time in steps that count, by falling time; both empty: not known.
struct RankOwnTimes {
  std::vector<OwnTimesOfName> operators;
  std::vector<OwnTimesOfName> modules;
};

// By row of steps.processes.
std::vector<RankOwnTimes> MeasureOwnTimes(const Store& store, const StepSet& steps);

// Medians over the late steps.
struct LongerCall {
  std::string name;
  double ns = 0;
  double others_ns = 0;  // of the rank where it takes longest of the others
};

// Finds what takes longer on one rank, against the others one after another.
class LongerCalls {
 public:
  // `own` has to outlive this. `rows`: its steps that are compared; `late`: places in these.
  LongerCalls(std::span<const OwnTimesOfName> own, std::span<const uint32_t> rows,
              std::span<const uint32_t> late, double waited_ns);

  bool empty() const { return calls_.empty(); }  // nothing is left that could explain the waiting
  void AddOther(std::span<const OwnTimesOfName> other, std::span<const uint32_t> rows);
  // What explains a fifth of what the others wait in a late step at least, by falling excess, three
  // at most; nothing if no other rank is known.
  std::vector<LongerCall> Take();

 private:
  bool IsLonger(const LongerCall& call) const;

  const std::span<const uint32_t> late_;
  const double waited_ns_;
  std::vector<LongerCall> calls_;
  bool any_other_ = false;
};

}  // namespace batchlight
