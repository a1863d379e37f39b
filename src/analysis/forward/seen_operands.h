// What operators of the training thread were given, in steps early in the run, where what they
// compute could be had of less (property forward.operands, by torch_ops/torch_operands.h):
// - tensors that are broadcast against each other only to be summed up again: distances and scalar
//   products of all pairs, of which a product of matrices makes the sums alone;
// - rows of a tensor that learns, chosen by more indices than it has rows.
// Their calls are found again by autograd's numbers, with what they took there.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/forward/forward_parts.h"
#include "analysis/numbers/time_span.h"

namespace batchlight {

class BackwardLinks;

enum class OperandKind : uint8_t { kSquared, kAbsolute, kNorm, kProduct, kCosine, kIndexed };

struct SeenOperands {
  OperandKind kind = OperandKind::kSquared;
  std::string_view shape;                    // of a broadcast: "256x256x64"
  int64_t summed = 0;                        // numbers of each pair that are summed up
  int64_t rows = 0, indices = 0, width = 0;  // of an indexed tensor
  uint64_t calls = 0;                        // in all steps that were looked at
  uint64_t named = 0;                        // of these, with their numbers
  // Of those calls that were found again: their operators, and the time that they and their
  // backward took.
  ForwardPart part;
  int64_t gpu_backward_ns = 0;  // of part.gpu_ns, in backward
  std::vector<TimeSpan> spans;  // in forward, in order
  uint64_t steps = 0;           // that have these calls
  int64_t steps_ns = 0;         // and how long they are
};

// In the order of the property; those of which no call is found are left out. Views into `store`.
std::vector<SeenOperands> FindSeenOperands(const Store& store, const ProcessSteps* main,
                                           const BackwardLinks& links, const Attribution& work);

}  // namespace batchlight
