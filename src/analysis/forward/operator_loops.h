// Small operators one after the other, the same again and again: a loop in Python over elements,
// positions or time steps.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analysis/numbers/time_span.h"
#include "store/store.h"

namespace batchlight {

// Operators without a long one or a pause between them.
struct OperatorStretch {
  uint32_t begin = 0;  // rows of operator_calls, with what these call in turn
  uint32_t end = 0;
  TimeSpan span;
};

struct OperatorLoop {
  std::vector<OperatorStretch> stretches;
  uint64_t operators = 0;  // that no other encloses and that compute
};

class OperatorLoops {
 public:
  // The next operator of the thread that no other encloses. `computes`: it does not only look at
  // memory in another way. `modules`: paths of those whose calls have begun since the one before.
  void Take(const OperatorStretch& one, StringId name, bool computes,
            std::span<const StringId> modules);
  // The next one, which has its own work however often the loop calls it: no part of the loop, and
  // no end of it.
  void Pass(std::span<const StringId> modules);
  // What comes next belongs to no loop before it: a backward, another step, the end.
  void End();

  std::span<const OperatorLoop> found() const { return found_; }

 private:
  void EndLoop();
  void TakeModules(std::span<const StringId> modules);

  OperatorLoop loop_;
  uint64_t short_ = 0;
  uint64_t most_ = 0;                           // of one name
  uint64_t module_calls_ = 0;                   // behind the first operator
  std::unordered_set<StringId> modules_;        // of these calls
  std::unordered_set<StringId> known_modules_;  // called since End()
  int long_in_a_row_ = 0;
  bool stretch_ended_ = true;
  std::unordered_map<StringId, uint64_t> names_;
  std::vector<OperatorLoop> found_;
};

}  // namespace batchlight
