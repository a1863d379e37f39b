// Operators from the ranges that torch.autograd.profiler.emit_nvtx writes:
//   aten::addmm, seq = 11, op_id = 401, sizes = [[64, 2, 768], []], input_op_ids = [(373,0),
//   (0,-1)]
// (torch/csrc/autograd/profiler_legacy.cpp, getNvtxStr). Recordings of nsys --pytorch=autograd-nvtx
// hold operators only in this form.
#pragma once

#include <string_view>

#include "store/store.h"

namespace batchlight {

struct EmitNvtxText {
  std::string_view name;  // aten::addmm
  int64_t sequence = -1;
  std::string_view sizes;    // [[64, 2, 768], []]; empty if not written
  bool is_operator = false;  // false: a range of the user
};
EmitNvtxText ParseEmitNvtx(std::string_view text);

// Whether any push/pop range is an operator.
bool HasOperatorRanges(const Store& store);

// Fills `operator_calls` from push/pop ranges of that form, if it has no rows. The ranges stay.
// Parents and depths are set; rows keep the order of the ranges: (thread, start).
void OperatorsFromRanges(Store& store);

}  // namespace batchlight
