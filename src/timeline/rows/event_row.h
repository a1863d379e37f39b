// One row of a track: events that do not overlap, by start, with summaries of 16 events and then of
// 8 summaries each. A summary that fits into a step of the picture is taken whole, so that a look
// at a row costs as much as it has items, however many events lie behind them. For the same reason
// an item may end up to a quarter of a step early, where a summary ends.
//
// An event costs 4 bytes here and 1.7 in the summaries. Start and end stay in the tables.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "timeline/rows/events.h"

namespace batchlight::timeline {

// One event, or neighbours that are all shorter than a step and begin within a step of the first:
// all of them, or those of its first three quarters and more.
struct RowItem {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  uint32_t longest = kNoRef;  // of equals the first
  uint32_t count = 0;
  int64_t longest_ns = -1;
  double busy_ns = 0;
  bool open = false;  // an event of it was still open at the end
};

class EventRow {
 public:
  // By start, after Events::SetSpan(), with what Events says of it: who adds an event has just
  // looked.
  void Add(uint32_t ref, int64_t start_ns, int64_t end_ns);
  void Add(const Events& events, uint32_t ref) { Add(ref, events.Start(ref), events.End(ref)); }
  // In place of its events the first `count` of another row, whose ends may have become earlier for
  // the last of them. More may be added; Summarize() is to come.
  void TakeFirst(const Events& events, const EventRow& other, size_t count);
  // Once, after the last event.
  void Summarize();

  const std::vector<uint32_t>& refs() const { return refs_; }
  size_t resident_bytes() const;
  // The first event that ends after the moment, or begins there or later.
  size_t FirstFrom(const Events& events, int64_t time_ns) const;
  // The first event that begins at the moment or later.
  size_t FirstBegun(const Events& events, int64_t time_ns) const;

  // visit(RowItem) -> bool: whether to go on. Items of the events that touch [from, to), by start.
  template <typename Visitor>
  void VisitItems(const Events& events, int64_t from_ns, int64_t to_ns, int64_t step_ns,
                  Visitor&& visit) const {
    for (size_t at = FirstFrom(events, from_ns); at < refs_.size();) {
      if (events.Start(refs_[at]) >= to_ns) return;
      if (!visit(ItemAt(events, to_ns, step_ns, &at))) return;
    }
  }

 private:
  struct Node {
    int64_t end_ns = 0;
    int64_t longest_ns = -1;
    float busy_ns = 0;
    uint32_t longest = 0;  // place in refs_
  };
  static constexpr size_t kLeaf = 16;
  static constexpr size_t kFan = 8;

  RowItem ItemAt(const Events& events, int64_t to_ns, int64_t step_ns, size_t* at) const;
  static void Take(const Events& events, uint32_t ref, RowItem* item);
  void Take(const Node& node, size_t count, RowItem* item) const;
  // The largest summary that begins at an event and lies before a limit.
  struct Whole {
    const Node* node = nullptr;  // nullptr: none
    size_t events = 0;
    bool cut = false;  // a larger one begins here and reaches beyond
  };
  Whole WholeAt(size_t at, int64_t limit_ns) const;

  std::vector<uint32_t> refs_;
  // Only full summaries: what is left over at the end is looked at event by event.
  std::vector<std::vector<Node>> levels_;
};

}  // namespace batchlight::timeline
