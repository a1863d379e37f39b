// Data as Python and JSON write it: numbers, texts, lists and dictionaries. Nodes lie side by side
// and are named by number, so that one that is named in many places is there once, and a file that
// names itself costs nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace batchlight {

enum class PlainKind : uint8_t { kNone, kBool, kInteger, kReal, kText, kList, kDictionary };

struct PlainNode {
  PlainKind kind = PlainKind::kNone;
  int64_t integer = 0;  // of a truth value 0 or 1
  double real = 0;
  std::string text;
  std::vector<uint32_t> items;  // of a dictionary: key, value, key, value, ...
};

class PlainTree;

// A node, or nothing: asking for what is not there gives nothing again.
class PlainValue {
 public:
  PlainValue() = default;
  PlainValue(const PlainTree* tree, uint32_t node) : tree_(tree), node_(node) {}

  bool Is(PlainKind kind) const;
  size_t size() const;  // of a list
  PlainValue At(size_t item) const;
  PlainValue Get(std::string_view key) const;  // of a dictionary
  int64_t Integer(int64_t otherwise = 0) const;
  std::string_view Text() const;
  // visit(key, value) for each entry of a dictionary.
  template <typename Visitor>
  void VisitEntries(Visitor&& visit) const;

 private:
  const PlainNode* Node() const;

  const PlainTree* tree_ = nullptr;
  uint32_t node_ = 0;
};

class PlainTree {
 public:
  uint32_t Add(PlainNode node) {
    nodes_.push_back(std::move(node));
    return static_cast<uint32_t>(nodes_.size() - 1);
  }
  PlainNode& at(uint32_t node) { return nodes_[node]; }
  const PlainNode& at(uint32_t node) const { return nodes_[node]; }
  size_t size() const { return nodes_.size(); }

  void SetRoot(uint32_t node) { root_ = node; }
  PlainValue root() const { return nodes_.empty() ? PlainValue() : PlainValue(this, root_); }

 private:
  std::vector<PlainNode> nodes_;
  uint32_t root_ = 0;
};

inline const PlainNode* PlainValue::Node() const {
  return tree_ == nullptr ? nullptr : &tree_->at(node_);
}

inline bool PlainValue::Is(PlainKind kind) const {
  return tree_ != nullptr && Node()->kind == kind;
}

inline size_t PlainValue::size() const { return Is(PlainKind::kList) ? Node()->items.size() : 0; }

inline PlainValue PlainValue::At(size_t item) const {
  return item < size() ? PlainValue(tree_, Node()->items[item]) : PlainValue();
}

inline PlainValue PlainValue::Get(std::string_view key) const {
  if (!Is(PlainKind::kDictionary)) return {};
  const std::vector<uint32_t>& items = Node()->items;
  for (size_t i = 0; i + 1 < items.size(); i += 2) {
    const PlainNode& name = tree_->at(items[i]);
    if (name.kind == PlainKind::kText && name.text == key) return {tree_, items[i + 1]};
  }
  return {};
}

inline int64_t PlainValue::Integer(int64_t otherwise) const {
  return Is(PlainKind::kInteger) || Is(PlainKind::kBool) ? Node()->integer : otherwise;
}

inline std::string_view PlainValue::Text() const {
  return Is(PlainKind::kText) ? std::string_view(Node()->text) : std::string_view();
}

template <typename Visitor>
void PlainValue::VisitEntries(Visitor&& visit) const {
  if (!Is(PlainKind::kDictionary)) return;
  const std::vector<uint32_t>& items = Node()->items;
  for (size_t i = 0; i + 1 < items.size(); i += 2) {
    visit(PlainValue(tree_, items[i]), PlainValue(tree_, items[i + 1]));
  }
}

}  // namespace batchlight
