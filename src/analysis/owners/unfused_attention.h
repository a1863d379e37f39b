// Attention that is written out: a softmax between two batched products of matrices. The scores in
// between, a number for each pair of positions, pass through memory once for each operator; a fused
// attention (scaled_dot_product_attention) keeps them on the chip.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/owners/attribution.h"
#include "analysis/steps/steps.h"
#include "store/store.h"

namespace batchlight {

class BackwardLinks;
class PhaseMarks;

struct UnfusedAttention {
  uint64_t count = 0;            // in all steady steps
  int64_t cpu_ns = 0;            // of what lies between the products, and of its backward
  bool drops = false;            // numbers at random, in between
  bool learns = false;           // has a backward
  StringId module;               // path of the innermost module around the first; None: in none
  StringId class_name;           // its class
  std::vector<bool> is_between;  // by row of operator_calls; empty: none

  // Whether what an operator launched belongs to it, in forward or backward.
  bool Launched(const WorkOwner& owner) const { return Holds(owner.op) || Holds(owner.forward_op); }

 private:
  bool Holds(OperatorCallId op) const {
    return !op.IsNone() && !is_between.empty() && is_between[op.row()];
  }
};

// Of the training thread.
UnfusedAttention FindUnfusedAttention(const Store& store, const ProcessSteps& main,
                                      const PhaseMarks& marks, const BackwardLinks& links);

}  // namespace batchlight
