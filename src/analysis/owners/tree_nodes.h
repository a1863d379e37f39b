// The nodes of an attribution tree while it is built. Finding a node's child takes a few
// instructions if calls repeat in the same order, as they do in a training loop.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analysis/owners/attribution_tree.h"
#include "analysis/steps/bin_finder.h"

namespace batchlight {

class TreeNodes {
 public:
  static constexpr uint32_t kRoot = UINT32_MAX;  // above all nodes
  // Bounds memory if every name is different: beyond this, new nodes of a parent are merged.
  static constexpr size_t kMost = 60'000;
  // The same for nodes inside one another, which readers of the tree walk through.
  static constexpr size_t kDeepest = 1'000;

  // With columns for `bins`, what lies in none and the bins of the ranks.
  TreeNodes(size_t bins, size_t rank_columns)
      : all_{.columns = bins + 1}, ranks_{.columns = rank_columns}, last_child_(1, kNone) {}

  struct Key {
    uint32_t parent = kRoot;
    uint32_t number = 0;  // what tells children of one kind apart
    TreeKind kind = TreeKind::kPhase;
    bool backward = false;
    friend bool operator==(const Key&, const Key&) = default;
  };
  // The node of the key; `make` gives the name of a new one.
  template <typename MakeName>
  uint32_t Find(Key key, MakeName&& make) {
    uint32_t& last = last_child_[Slot(key.parent)];
    if (last != kNone) {
      if (keys_[last] == key) return last;
      const uint32_t next = successor_[last];
      if (next != kNone && keys_[next] == key) return last = next;
    }
    const uint32_t found = FindOrAdd(key, make);
    uint32_t& before = last_child_[Slot(key.parent)];  // adding has moved it
    if (before != kNone) successor_[before] = found;
    return before = found;
  }

  // `beside_ns`: on threads that the step does not wait for.
  void Add(uint32_t node, BinPlace place, int64_t ns, int64_t beside_ns, uint32_t calls) {
    all_.Add(node, place.bin, ns, beside_ns, calls);
    if (place.rank_column == BinPlace::kNowhere) return;
    ranks_.Add(node, place.rank_column, ns, beside_ns, calls);
  }
  // One of the node's calls, or work; `counts`: of a step that does.
  void AddCall(uint32_t node, const TimeSpan& call, bool counts) {
    TimeSpan& longest = nodes_[node].longest;
    if (counts && !has_counted_[node]) longest = {};
    if (counts || !has_counted_[node]) KeepLonger(longest, call);
    if (counts) has_counted_[node] = true;
  }
  const Key& key(uint32_t node) const { return keys_[node]; }
  TreeNode& node(uint32_t node) { return nodes_[node]; }
  size_t size() const { return nodes_.size(); }
  // Moves everything into `tree`, in order of the tree.
  void MoveInto(AttributionTree& tree);

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr uint32_t kOthers = UINT32_MAX;  // Key::number of what came too late

  // Of every node, in the order in which they were made.
  struct Times {
    size_t columns = 0;
    std::vector<int64_t> self_ns;
    std::vector<int64_t> beside_ns;
    std::vector<uint32_t> calls;

    void Add(uint32_t node, uint32_t column, int64_t ns, int64_t beside, uint32_t more_calls) {
      self_ns[node * columns + column] += ns;
      beside_ns[node * columns + column] += beside;
      calls[node * columns + column] += more_calls;
    }
    void AddNode() {
      self_ns.resize(self_ns.size() + columns);
      beside_ns.resize(beside_ns.size() + columns);
      calls.resize(calls.size() + columns);
    }
    void MoveInto(std::vector<int64_t>& ns, std::vector<int64_t>& beside,
                  std::vector<uint32_t>& counts, const std::vector<uint32_t>& order);
  };

  struct KeyHash {
    size_t operator()(const Key& key) const {
      const uint64_t where = uint64_t{key.parent} << 32 | key.number;
      const uint64_t what = uint64_t(key.kind) << 1 | uint64_t(key.backward);
      return (where + what * 0x2545f4914f6cdd1du) * 0x9e3779b97f4a7c15u >> 7;
    }
  };
  static size_t Slot(uint32_t parent) { return parent == kRoot ? 0 : size_t{parent} + 1; }

  template <typename MakeName>
  uint32_t FindOrAdd(Key key, MakeName&& make) {
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
    const bool deep = key.parent != kRoot && nodes_[key.parent].depth + 1u >= kDeepest;
    if (nodes_.size() < kMost && !deep) return Append(key, make());
    if (key.parent != kRoot && keys_[key.parent].number == kOthers) return key.parent;
    key.number = kOthers;
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
    return Append(key, "(others)");
  }
  uint32_t Append(const Key& key, std::string name);

  Times all_;
  Times ranks_;
  std::vector<TreeNode> nodes_;
  std::vector<Key> keys_;
  std::vector<bool> has_counted_;     // a call in a step that counts
  std::vector<uint32_t> last_child_;  // by Slot(); the child asked for last
  std::vector<uint32_t> successor_;   // by node: the sibling asked for after it
  std::unordered_map<Key, uint32_t, KeyHash> known_;
};

}  // namespace batchlight
