// Which line, and which of its columns, an operator or a piece of GPU work belongs to.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analysis/lines/line_times.h"
#include "analysis/owners/attribution.h"

namespace batchlight {

enum class LineSide : uint8_t { kForward, kBackward, kRecompute };

struct LinePart {
  LineKind kind = LineKind::kOutside;
  LineSide side = LineSide::kForward;
  PythonStackId stack;  // of the line; None: not known
};

class LineFinder {
 public:
  LineFinder(const Store& store, const BackwardLinks& links, const StackLines& lines);

  // Whether the time of this operator is told by itself; if not, it is part of the one around it.
  bool HasOwnPart(uint32_t row) const { return has_own_part_[row]; }
  LinePart OfOperator(OperatorCallId call) const;
  // `called`: stack of the call that launched it, None if it was not recorded.
  LinePart OfWork(const WorkOwner& owner, PythonStackId called) const;

 private:
  LinePart OfStack(PythonStackId stack) const;
  // Of a row inside backward; `called`: Python code inside it that is no operator's.
  LinePart InBackward(OperatorCallId call, PythonStackId called) const;
  LinePart OfPythonInBackward(OperatorCallId around, PythonStackId stack) const;
  // Of the nearest operator around that has one, its own included.
  PythonStackId StackOf(OperatorCallId call) const;

  const Store& store_;
  const StackLines& lines_;
  // By row of operator_calls.
  std::vector<OperatorCallId> forward_of_;  // what the row differentiates
  std::vector<uint8_t> is_backward_;  // the row is a function of backward, or the engine's call
  std::vector<uint8_t> in_backward_;  // it or one around it is
  std::vector<uint8_t> has_own_part_;
};

// Time of operators that have their own part, without those inside that have.
std::vector<int64_t> OwnTimes(const Store& store, const LineFinder& finder);

// Stacks of CUDA calls.
class CallStacks {
 public:
  explicit CallStacks(const Store& store);
  PythonStackId Of(ApiCallId call) const;

 private:
  std::unordered_map<uint32_t, PythonStackId> stacks_;  // by row of the call
};

}  // namespace batchlight
