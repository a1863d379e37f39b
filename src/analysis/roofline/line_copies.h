// How much each line of Python copies: what Scalene calls copy volume, of tensors.
#pragma once

#include <cstdint>
#include <map>

#include "analysis/lines/line_key.h"

namespace batchlight {

class BackwardLinks;
struct Attribution;

struct LineCopies {
  PythonFrameId frame;  // None: no line is known
  // Written by aten::copy_, which clone, contiguous, to, cpu and the like end in, and by aten::cat,
  // on whichever device. Known where sizes of inputs were recorded.
  uint64_t tensor_bytes = 0;
  uint64_t gpu_bytes = 0;  // moved by GPUs' copies: to the device, from it, within it
};

// Empty where no stacks of calls were recorded.
std::map<LineKey, LineCopies> MeasureLineCopies(const Store& store, const BackwardLinks& links,
                                                const Attribution& work);

}  // namespace batchlight
