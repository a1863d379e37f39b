// Where an iteration of the training loop ends, while it runs. It looks at nothing but optimizers
// that have stepped and at the depth of the program's NVTX ranges.
//
// Of several optimizers (a GAN) the one that steps least often ends the iteration, else the one
// that is first met last. Where the program has a range around its step, the iteration ends with
// that: at the depth of ranges to which the loop always returns between two iterations. Both are
// learned from the first iterations, of which no end is told.
#pragma once

#include <cstddef>
#include <cstdint>

namespace batchlight::inject {

class IterationFinder {
 public:
  // An optimizer's step ends, within `depth` open ranges. True: so does the iteration.
  bool OptimizerStepped(uint64_t name, int depth);
  // A range ends, and `depth` others are open. To be called while watches(). True: the iteration
  // ends with it.
  bool RangeEnded(int depth);
  bool watches() const { return is_waiting_ || is_learning_depth_; }
  // That have ended, with those that were learned from.
  uint64_t iterations() const { return iterations_; }

 private:
  static constexpr size_t kMostNames = 8;
  static constexpr uint32_t kLearnedSteps = 16;  // of optimizers
  static constexpr uint32_t kLearnedDepths = 4;  // iterations
  static constexpr uint32_t kMostOthers = 64;    // steps without the one that ends iterations

  struct Optimizer {
    uint64_t name;
    uint32_t steps;
  };

  void LearnName(uint64_t name);
  void LearnDepth(int depth);

  uint64_t iterations_ = 0;
  Optimizer seen_[kMostNames] = {};  // in the order in which they were met
  size_t seen_count_ = 0;
  uint32_t learned_steps_ = 0;
  bool too_many_ = false;   // optimizers: one for each parameter, perhaps
  uint64_t last_name_ = 0;  // of the optimizer that ends iterations
  uint32_t others_ = 0;

  uint32_t learned_depths_ = 0;
  bool is_learning_depth_ = false;
  int least_depth_ = 0;  // since the last iteration's optimizer
  int loop_depth_ = 0;   // to which the loop returns
  bool is_waiting_ = false;
};

}  // namespace batchlight::inject
