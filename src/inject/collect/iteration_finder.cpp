#include "inject/collect/iteration_finder.h"

namespace batchlight::inject {

void IterationFinder::LearnName(uint64_t name) {
  size_t i = 0;
  while (i < seen_count_ && seen_[i].name != name) ++i;
  if (i == kMostNames) {
    too_many_ = true;
    return;
  }
  if (i == seen_count_) seen_[seen_count_++] = {name, 0};
  ++seen_[i].steps;
  if (++learned_steps_ < kLearnedSteps) return;
  const Optimizer* rarest = &seen_[0];
  for (size_t j = 1; j < seen_count_; ++j) {
    if (seen_[j].steps <= rarest->steps) rarest = &seen_[j];
  }
  last_name_ = rarest->name;
  iterations_ += rarest->steps;
}

void IterationFinder::LearnDepth(int depth) {
  // An end of an epoch leads further out: the innermost of the places counts.
  if (is_learning_depth_ && least_depth_ > loop_depth_) loop_depth_ = least_depth_;
  is_learning_depth_ = ++learned_depths_ <= kLearnedDepths;
  least_depth_ = depth;
}

bool IterationFinder::OptimizerStepped(uint64_t name, int depth) {
  if (too_many_) return false;
  if (learned_steps_ < kLearnedSteps) {
    LearnName(name);
    return false;
  }
  if (name != last_name_) {
    if (++others_ <= kMostOthers) return false;
    const uint64_t iterations = iterations_;  // another model is trained
    *this = IterationFinder();
    iterations_ = iterations;
    return false;
  }
  others_ = 0;
  ++iterations_;
  if (learned_depths_ <= kLearnedDepths) {
    LearnDepth(depth);
    if (is_learning_depth_) return false;
  }
  // The range that was waited for did not end: the loop has changed.
  if (is_waiting_) loop_depth_ = depth;
  is_waiting_ = depth > loop_depth_;
  return !is_waiting_;
}

bool IterationFinder::RangeEnded(int depth) {
  if (is_learning_depth_ && depth < least_depth_) least_depth_ = depth;
  if (!is_waiting_ || depth > loop_depth_) return false;
  is_waiting_ = false;
  return true;
}

}  // namespace batchlight::inject
