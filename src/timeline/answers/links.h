// Which event another one comes from: a kernel from the call that launched it and the operator
// around that, a backward function from its forward operator.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/owners/backward_links.h"
#include "timeline/index/timeline.h"

namespace batchlight::timeline {

struct EventLink {
  std::string_view kind;  // "launch", "backward"
  uint32_t from = kNoRef;
  uint32_t to = kNoRef;
};

class Links {
 public:
  explicit Links(const Timeline& timeline);  // must outlive this
  // Of a timeline that was read in two: those of the two, which must outlive this too.
  Links(const Timeline& timeline, std::vector<const Links*> parts)
      : timeline_(timeline), parts_(std::move(parts)) {}

  // Direct links from and to this event, at most `most`.
  std::vector<EventLink> Of(uint32_t ref, size_t most) const;

 private:
  struct Pair {
    uint32_t from;
    uint32_t to;
  };
  // Links of one kind, to be found from both ends.
  struct Pairs {
    std::string_view kind;
    std::vector<Pair> by_from;
    std::vector<Pair> by_to;
  };
  void AddLaunches(Pairs& pairs) const;
  void AddBackwards(Pairs& pairs) const;
  static void Sort(Pairs& pairs);
  std::vector<EventLink> OfParts(uint32_t ref, size_t most) const;

  const Timeline& timeline_;
  std::vector<Pairs> kinds_;
  std::vector<const Links*> parts_;
};

}  // namespace batchlight::timeline
