// Which steps of the training loop are recorded in detail. Pure arithmetic on the numbers of steps
// and on how long they took: it neither reads a clock nor switches anything.
//
//   --control-steps N   one in N is not, so that a report can say what recording adds to a step
//   --overhead P %      as many as fit into the budget: at first one in four, to measure what
//   detail
//                       costs in this very program, then one in so many. What measuring spent too
//                       much is saved in as many steps again, so that the mean of all comes out
//
// The choice within a group of steps is random, so that a loop with a rhythm of its own (a log line
// every tenth step) is not met at always the same beat. It depends on the number of the step alone:
// all ranks choose the same.
#pragma once

#include <cstddef>
#include <cstdint>

namespace batchlight::inject {

struct DetailOptions {
  uint32_t every = 0;  // one in so many is a control step; 0 = none
  double budget = 0;   // 0.03: steps may take 3 % longer in the mean; 0 = no budget
};

class DetailPlan {
 public:
  // A plan changes at the end of a block of steps only, and is known half a block before: so all
  // processes change it at the same step, although they may be some steps apart.
  static constexpr uint64_t kBlock = 32;
  // Of so many steps at the most, one has detail: else a long run would have none at all.
  static constexpr uint32_t kLongest = 256;

  constexpr explicit DetailPlan(const DetailOptions& options = {}) : options_(options) {}

  // Whether step `number` (from 0) is recorded in detail.
  bool HasDetail(uint64_t number) const;
  // How long a step took that had detail, or none, in any unit. Now and then this makes a new plan.
  void Took(uint64_t number, bool detail, uint64_t duration);

  // The plan that is to come, in a word for other processes; 0: none.
  uint32_t published() const;
  // Takes over the plan of another process, at step `number`.
  void Adopt(uint32_t published, uint64_t number);

  bool chooses() const { return options_.every != 0 || options_.budget > 0; }

 private:
  // The last numbers of a kind.
  template <size_t kKept>
  struct Recent {
    double numbers[kKept];
    size_t count;
    void Add(double number) { numbers[count++ % kKept] = number; }
    double Median() const;
  };
  void Compare(bool detail, double duration);
  void Plan(uint64_t next_block);
  void BeginBlock(uint64_t number);

  DetailOptions options_;
  Recent<9> with_{};
  Recent<9> without_{};
  Recent<31> costs_{};     // of detail, as a share of a step; each of one step and those before it
  double cost_ = -1;       // as last planned with; negative: not known yet
  double spent_ = 0;       // in plain steps, on detail, at the cost of that time
  uint32_t unpriced_ = 0;  // steps with detail before any cost was known
  uint32_t interval_ = 4;  // while measuring
  uint32_t next_interval_ = 0;
  uint64_t next_block_ = 0;  // from which on next_interval_ holds; 0 = none is planned
};

}  // namespace batchlight::inject
