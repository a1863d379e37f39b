#include "analysis/owners/tree_nodes.h"

#include <algorithm>

namespace batchlight {

uint32_t TreeNodes::Append(const Key& key, std::string name) {
  const auto row = static_cast<uint32_t>(nodes_.size());
  known_.emplace(key, row);
  const bool root = key.parent == kRoot;
  nodes_.push_back({.name = std::move(name),
                    .parent = root ? -1 : static_cast<int32_t>(key.parent),
                    .depth = static_cast<uint16_t>(root ? 0 : nodes_[key.parent].depth + 1),
                    .kind = key.kind,
                    .backward = key.backward});
  keys_.push_back(key);
  has_counted_.push_back(false);
  last_child_.push_back(kNone);
  successor_.push_back(kNone);
  all_.AddNode();
  ranks_.AddNode();
  return row;
}

// A parent is made before its children, but they may lie apart.
void TreeNodes::MoveInto(AttributionTree& tree) {
  std::vector<std::vector<uint32_t>> children(nodes_.size() + 1);
  for (uint32_t row = 0; row < nodes_.size(); ++row) {
    children[Slot(keys_[row].parent)].push_back(row);
  }
  std::vector<std::pair<uint32_t, int32_t>> open;  // row here, parent there
  const auto push = [&](size_t slot, int32_t parent) {
    for (size_t i = children[slot].size(); i-- > 0;) open.emplace_back(children[slot][i], parent);
  };
  push(0, -1);
  std::vector<uint32_t> order;
  while (!open.empty()) {
    const auto [row, parent] = open.back();
    open.pop_back();
    const auto placed = static_cast<int32_t>(tree.nodes.size());
    tree.nodes.push_back(std::move(nodes_[row]));
    tree.nodes.back().parent = parent;
    order.push_back(row);
    push(row + 1, placed);
  }
  all_.MoveInto(tree.self_ns, tree.beside_ns, tree.calls, order);
  ranks_.MoveInto(tree.rank_self_ns, tree.rank_beside_ns, tree.rank_calls, order);
}

void TreeNodes::Times::MoveInto(std::vector<int64_t>& ns, std::vector<int64_t>& beside,
                                std::vector<uint32_t>& counts, const std::vector<uint32_t>& order) {
  const auto rows_of = [&](const auto& from, auto& to) {
    to.reserve(from.size());
    for (const uint32_t row : order) {
      const auto begin = from.begin() + static_cast<std::ptrdiff_t>(row * columns);
      to.insert(to.end(), begin, begin + static_cast<std::ptrdiff_t>(columns));
    }
  };
  rows_of(self_ns, ns);
  self_ns = {};
  rows_of(beside_ns, beside);
  beside_ns = {};
  rows_of(calls, counts);
  calls = {};
}

}  // namespace batchlight
