// Which forward operator a backward function differentiates. PyTorch numbers the nodes of the
// autograd graph per thread; the operator that made a node and the function that runs it backward
// carry the same number. If several operators carry a number, the one that started last made the
// node. PyTorch's own thread numbers are matched to threads by looking at where the sequence
// numbers occur.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/numbers/time_span.h"
#include "store/store.h"

namespace batchlight {

struct BackwardLink {
  OperatorCallId backward;  // the engine's call around the function if recorded, else the function
  OperatorCallId forward;
  int64_t own_ns = 0;  // CPU time of the call without linked calls inside it
};

class BackwardLinks {
 public:
  BackwardLinks() = default;                   // of nothing
  explicit BackwardLinks(const Store& store);  // must outlive this

  // Ordered by row of `backward`. Functions whose operator was not recorded are left out.
  const std::vector<BackwardLink>& links() const { return links_; }
  // What of a link's own time lies in a stretch of time.
  int64_t OwnNsWithin(size_t link, const TimeSpan& within) const;
  // The link of this call or the nearest call around it, by its place in links(); links().size():
  // none.
  size_t LinkAround(OperatorCallId call) const;
  // The forward operator that this call, or a call around it, differentiates; None: it is not part
  // of a backward function that is linked.
  OperatorCallId ForwardOf(OperatorCallId call) const;
  // Whether this call or one around it is a backward function, linked or not.
  bool IsInBackward(OperatorCallId call) const;

 private:
  void FindLinks();
  void SetOwnTimes();
  TimeSpan SpanOf(size_t link) const;

  const Store* store_ = nullptr;
  std::vector<BackwardLink> links_;
};

}  // namespace batchlight
