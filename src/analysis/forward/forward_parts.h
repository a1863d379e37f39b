// Rows of operators in the forward of the training thread that one call would do, or half of them:
// - attention that is written out: a softmax between two batched products of matrices. The scores
//   in between, a number for each pair of positions, pass through memory once for each operator; a
//   fused attention (scaled_dot_product_attention) keeps them on the chip.
// - the head: the last product before a cross entropy, the loss and what lies between. It makes as
//   many scores for a position that the loss leaves out as for any other.
// - loops: small operators that autograd follows, one after the other, the same again and again;
//   and those whose rounds each choose rows by a mask, by calls of modules too.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/numbers/time_span.h"
#include "analysis/owners/attribution.h"
#include "analysis/steps/steps.h"
#include "store/store.h"

namespace batchlight {

class BackwardLinks;
class PhaseMarks;

// Of all steady steps, with the backward of these operators.
struct ForwardPart {
  uint64_t count = 0;
  bool learns = false;            // has a backward
  StringId module;                // path of the innermost module around the first; None: in none
  StringId class_name;            // its class
  int64_t cpu_ns = 0;             // of these operators in forward and backward
  int64_t backward_ns = 0;        // of that, in backward
  int64_t gpu_ns = 0;             // of what they launched
  std::vector<bool> is_operator;  // by row of operator_calls; empty: none

  // Whether what an operator launched belongs to it, in forward or backward.
  bool Launched(const WorkOwner& owner) const { return Holds(owner.op) || Holds(owner.forward_op); }

 private:
  bool Holds(OperatorCallId op) const {
    return !op.IsNone() && !is_operator.empty() && is_operator[op.row()];
  }
};

struct ForwardParts {
  ForwardPart attention;         // what lies between its products, and what these convert
  bool attention_drops = false;  // numbers at random, in between
  ForwardPart head;
  // Operators choose rows of a tensor shortly before the head or in it: perhaps the positions that
  // count.
  bool head_of_chosen = false;
  ForwardPart loops;
  std::vector<TimeSpan> loop_spans;  // without pauses and long operators in between
  // Of these spans what operators do besides being called: their own time but for a call's each.
  int64_t loop_work_ns = 0;
  uint64_t loop_operators = 0;  // that compute, in all loops, without what these call in turn
  uint64_t gate_operators = 0;  // of these, in loops with the gates of a recurrent layer
  ForwardPart mask_loops;       // in the module of the longest
  std::vector<TimeSpan> mask_loop_spans;  // from the first round of each to the last
  uint64_t mask_loop_count = 0;
  uint64_t mask_rounds = 0;  // of all of them
  // What backward takes for each ns of those functions whose operator is known: gradients are added
  // up between them, and nodes that only pass them on have none. 1 or more; 1 without loops.
  double backward_of_linked = 1;
};

ForwardParts FindForwardParts(const Store& store, const ProcessSteps* main, const PhaseMarks& marks,
                              const BackwardLinks& links, const Attribution& work);

}  // namespace batchlight
