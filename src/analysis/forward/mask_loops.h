// Rows that a forward chooses by a mask (nonzero, a boolean index) again and again: a loop in
// Python over the graphs, pictures or classes of a batch. It is found within one call of a module,
// or in what runs in no module, as the same operators and calls of modules that repeat.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/forward/operator_loops.h"
#include "store/interval_index.h"
#include "store/store.h"

namespace batchlight {

struct MaskLoop {
  OperatorStretch stretch;
  uint64_t rounds = 0;
};

class MaskLoops {
 public:
  MaskLoops(const Store& store, ThreadId thread);

  // The next operator of the thread that no other encloses. `by_mask`: it looks for what is not
  // zero, or calls what does.
  void Take(const OperatorStretch& one, StringId name, bool by_mask);
  // What comes next belongs to no loop before it: a backward, another step, the end.
  void End();

  // In the order of their ends; none lies in another.
  std::span<const MaskLoop> found() const { return found_; }

 private:
  // An operator or a call of a module, within a call.
  struct Part {
    uint64_t name = 0;
    bool by_mask = false;
    OperatorStretch stretch;  // without operators: begin == end
  };
  struct Call {
    int64_t end_ns = 0;
    uint64_t name = 0;
    int64_t start_ns = 0;
    std::vector<Part> parts;
  };

  void Enter(int64_t now_ns);
  void LeaveUntil(int64_t now_ns);
  void Leave();
  // All loops of the parts, the one with the most rounds first. Passes over parts at most `looks`
  // times, and says how many are left.
  size_t LookFor(std::span<const Part> parts, size_t looks);
  // In place of those inside of it.
  void Keep(const MaskLoop& found);

  const Store& store_;
  uint32_t module_ = 0, module_end_ = 0;  // rows of module_calls that are to come
  std::vector<Call> calls_;               // the first is the thread
  std::vector<MaskLoop> found_;
};

}  // namespace batchlight
