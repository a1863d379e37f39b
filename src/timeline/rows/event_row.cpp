#include "timeline/rows/event_row.h"

namespace batchlight::timeline {

void EventRow::Add(uint32_t ref, int64_t start_ns, int64_t end_ns) {
  const size_t place = refs_.size();
  refs_.push_back(ref);
  if (place == 0) levels_.resize(1);
  std::vector<Node>& leaves = levels_.front();
  if (place % kLeaf == 0) leaves.emplace_back();
  Node& leaf = leaves.back();
  const int64_t length_ns = end_ns - start_ns;
  leaf.end_ns = end_ns;
  leaf.busy_ns += static_cast<float>(length_ns);
  if (length_ns <= leaf.longest_ns) return;
  leaf.longest_ns = length_ns;
  leaf.longest = static_cast<uint32_t>(place);
}

void EventRow::TakeFirst(const Events& events, const EventRow& other, size_t count) {
  // All but the summary of the last event stay as they are.
  const size_t leaves = count == 0 ? 0 : (count - 1) / kLeaf;
  const auto first = other.refs_.begin();
  refs_.assign(first, first + static_cast<ptrdiff_t>(leaves * kLeaf));
  levels_.assign(1, {});
  if (leaves > 0) {
    const auto node = other.levels_.front().begin();
    levels_.front().assign(node, node + static_cast<ptrdiff_t>(leaves));
  }
  for (size_t at = leaves * kLeaf; at < count; ++at) Add(events, other.refs_[at]);
}

void EventRow::Summarize() {
  refs_.shrink_to_fit();
  if (refs_.empty()) return;
  if (refs_.size() % kLeaf != 0) levels_.front().pop_back();
  levels_.front().shrink_to_fit();
  while (levels_.back().size() >= kFan) {
    const std::vector<Node>& below = levels_.back();
    std::vector<Node> level;
    level.reserve(below.size() / kFan);
    for (size_t begin = 0; begin + kFan <= below.size(); begin += kFan) {
      Node node = below[begin];
      node.end_ns = below[begin + kFan - 1].end_ns;
      for (size_t i = begin + 1; i < begin + kFan; ++i) {
        node.busy_ns += below[i].busy_ns;
        if (below[i].longest_ns <= node.longest_ns) continue;
        node.longest_ns = below[i].longest_ns;
        node.longest = below[i].longest;
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

EventRow::Whole EventRow::WholeAt(size_t at, int64_t limit_ns) const {
  Whole best;
  if (at % kLeaf != 0) return best;
  size_t place = at / kLeaf;
  size_t size = kLeaf;
  for (const std::vector<Node>& level : levels_) {
    if (place >= level.size()) break;
    best.cut = level[place].end_ns >= limit_ns;
    if (best.cut) break;
    best.node = &level[place];
    best.events = size;
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
  if (end_ns - start_ns > item->longest_ns) {
    item->longest_ns = end_ns - start_ns;
    item->longest = ref;
  }
  item->busy_ns += static_cast<double>(end_ns - start_ns);
  item->end_ns = end_ns;
  ++item->count;
}

// The start of an item is its first event's, whoever takes it.
void EventRow::Take(const Node& node, size_t count, RowItem* item) const {
  if (node.longest_ns > item->longest_ns) {
    item->longest_ns = node.longest_ns;
    item->longest = refs_[node.longest];
  }
  item->busy_ns += static_cast<double>(node.busy_ns);
  item->end_ns = node.end_ns;
  item->count += static_cast<uint32_t>(count);
}

RowItem EventRow::ItemAt(const Events& events, int64_t to_ns, int64_t step_ns, size_t* at) const {
  const uint32_t first = refs_[*at];
  const int64_t start_ns = events.Start(first);
  RowItem item{.start_ns = start_ns};
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
    const Whole whole = WholeAt(next, limit_ns);
    // The next item then begins where a summary does.
    if (whole.cut && next > *at && item.end_ns >= step_end_ns - step_ns / 4) break;
    // What ends before the step does holds no long event and none that begins too late.
    if (whole.node != nullptr) {
      Take(*whole.node, whole.events, &item);
      next += whole.events;
      continue;
    }
    const uint32_t ref = refs_[next];
    const int64_t next_ns = events.Start(ref);
    if (next_ns >= limit_ns || events.End(ref) - next_ns >= step_ns) break;
    Take(events, ref, &item);
    ++next;
  }
  item.open = events.IsOpen(refs_[next - 1]);
  *at = next;
  return item;
}

}  // namespace batchlight::timeline
