#include "analysis/tree_nodes.h"

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
  last_child_.push_back(kNone);
  successor_.push_back(kNone);
  self_ns_.resize(self_ns_.size() + columns_);
  calls_.resize(calls_.size() + columns_);
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
  tree.self_ns.reserve(self_ns_.size());
  tree.calls.reserve(calls_.size());
  while (!open.empty()) {
    const auto [row, parent] = open.back();
    open.pop_back();
    const auto placed = static_cast<int32_t>(tree.nodes.size());
    tree.nodes.push_back(std::move(nodes_[row]));
    tree.nodes.back().parent = parent;
    const auto at = static_cast<std::ptrdiff_t>(row * columns_);
    const auto end = at + static_cast<std::ptrdiff_t>(columns_);
    tree.self_ns.insert(tree.self_ns.end(), self_ns_.begin() + at, self_ns_.begin() + end);
    tree.calls.insert(tree.calls.end(), calls_.begin() + at, calls_.begin() + end);
    push(row + 1, placed);
  }
}

}  // namespace batchlight
