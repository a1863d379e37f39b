#include "timeline/rows/event_row.h"

namespace batchlight::timeline {

void EventRow::AddLeaves(const Events& events) {
  std::vector<Node>& leaves = levels_.emplace_back();
  leaves.reserve(refs_.size() / kLeaf);
  // Only full ones: what is left over at the end is looked at event by event.
  for (size_t begin = 0; begin + kLeaf <= refs_.size(); begin += kLeaf) {
    Node node{.start_ns = events.Start(refs_[begin]),
              .end_ns = events.End(refs_[begin + kLeaf - 1]),
              .busy_ns = 0,
              .longest = 0};
    int64_t longest_ns = -1;
    int64_t busy_ns = 0;
    for (size_t i = begin; i < begin + kLeaf; ++i) {
      const int64_t length_ns = events.End(refs_[i]) - events.Start(refs_[i]);
      busy_ns += length_ns;
      if (length_ns <= longest_ns) continue;
      longest_ns = length_ns;
      node.longest = static_cast<uint32_t>(i);
    }
    node.busy_ns = static_cast<float>(busy_ns);
    leaves.push_back(node);
  }
}

void EventRow::Summarize(const Events& events) {
  refs_.shrink_to_fit();
  levels_.clear();
  if (refs_.size() < kLeaf) return;
  AddLeaves(events);
  const auto length_ns = [&](const Node& node) {
    return events.End(refs_[node.longest]) - events.Start(refs_[node.longest]);
  };
  while (levels_.back().size() >= kFan) {
    const std::vector<Node>& below = levels_.back();
    std::vector<Node> level;
    level.reserve(below.size() / kFan);
    for (size_t begin = 0; begin + kFan <= below.size(); begin += kFan) {
      Node node = below[begin];
      node.end_ns = below[begin + kFan - 1].end_ns;
      for (size_t i = begin + 1; i < begin + kFan; ++i) {
        node.busy_ns += below[i].busy_ns;
        if (length_ns(below[i]) > length_ns(node)) node.longest = below[i].longest;
      }
      level.push_back(node);
    }
    levels_.push_back(std::move(level));
  }
}

size_t EventRow::resident_bytes() const {
  size_t bytes = refs_.capacity() * sizeof(uint32_t);
  for (const std::vector<Node>& level : levels_) bytes += level.capacity() * sizeof(Node);
  return bytes;
}

size_t EventRow::FirstFrom(const Events& events, int64_t time_ns) const {
  const auto at = std::partition_point(refs_.begin(), refs_.end(), [&](uint32_t ref) {
    return events.End(ref) <= time_ns && events.Start(ref) < time_ns;
  });
  return static_cast<size_t>(at - refs_.begin());
}

size_t EventRow::FirstBegun(const Events& events, int64_t time_ns) const {
  const auto at = std::partition_point(refs_.begin(), refs_.end(),
                                       [&](uint32_t ref) { return events.Start(ref) < time_ns; });
  return static_cast<size_t>(at - refs_.begin());
}

// The largest summary that begins at this event and ends before the limit.
const EventRow::Node* EventRow::WholeNode(size_t at, int64_t limit_ns, size_t* events) const {
  if (at % kLeaf != 0) return nullptr;
  const Node* best = nullptr;
  size_t place = at / kLeaf;
  size_t size = kLeaf;
  for (const std::vector<Node>& level : levels_) {
    if (place >= level.size() || level[place].end_ns >= limit_ns) break;
    best = &level[place];
    *events = size;
    if (place % kFan != 0) break;
    place /= kFan;
    size *= kFan;
  }
  return best;
}

// Item by item, the events that are taken.
void EventRow::Take(const Events& events, uint32_t ref, RowItem* item) {
  const int64_t start_ns = events.Start(ref);
  const int64_t end_ns = events.End(ref);
  if (item->count == 0) item->start_ns = start_ns;
  if (end_ns - start_ns > item->longest_ns) {
    item->longest_ns = end_ns - start_ns;
    item->longest = ref;
  }
  item->busy_ns += static_cast<double>(end_ns - start_ns);
  item->end_ns = end_ns;
  ++item->count;
}

void EventRow::Take(const Events& events, const Node& node, size_t count, RowItem* item) const {
  if (item->count == 0) item->start_ns = node.start_ns;
  const uint32_t longest = refs_[node.longest];
  const int64_t length_ns = events.End(longest) - events.Start(longest);
  if (length_ns > item->longest_ns) {
    item->longest_ns = length_ns;
    item->longest = longest;
  }
  item->busy_ns += static_cast<double>(node.busy_ns);
  item->end_ns = node.end_ns;
  item->count += static_cast<uint32_t>(count);
}

RowItem EventRow::ItemAt(const Events& events, int64_t to_ns, int64_t step_ns, size_t* at) const {
  RowItem item;
  const uint32_t first = refs_[*at];
  const int64_t start_ns = events.Start(first);
  if (events.End(first) - start_ns >= step_ns) {
    Take(events, first, &item);
    item.open = events.IsOpen(first);
    ++*at;
    return item;
  }
  const int64_t step_end_ns = start_ns > INT64_MAX - step_ns ? INT64_MAX : start_ns + step_ns;
  const int64_t limit_ns = std::min(to_ns, step_end_ns);
  size_t next = *at;
  while (next < refs_.size()) {
    size_t whole = 0;
    // What ends before the step does holds no long event and none that begins too late.
    if (const Node* node = WholeNode(next, limit_ns, &whole)) {
      Take(events, *node, whole, &item);
      next += whole;
      continue;
    }
    const uint32_t ref = refs_[next];
    if (events.Start(ref) >= limit_ns || events.End(ref) - events.Start(ref) >= step_ns) break;
    Take(events, ref, &item);
    ++next;
  }
  item.open = events.IsOpen(refs_[next - 1]);
  *at = next;
  return item;
}

}  // namespace batchlight::timeline
