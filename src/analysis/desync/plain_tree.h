// Data as Python and JSON write it: numbers, texts, lists and dictionaries. Nodes lie side by side
// and are named by number, so that one that is named in many places is there once, and a file that
// names itself costs nothing. To walk such a file may still never end: what is looked at is
// counted.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace batchlight {

enum class PlainKind : uint8_t { kNone, kBool, kInteger, kReal, kText, kList, kDictionary };

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
  const PlainTree* tree_ = nullptr;
  uint32_t node_ = 0;
};

// Texts are not copied, but for those given to Keep: what they were read from has to live as long.
class PlainTree {
 public:
  uint32_t AddNone(bool is_call = false) { return Add({.count = is_call, .integer = 0}); }
  uint32_t AddBool(bool value) { return Add({.kind = PlainKind::kBool, .integer = value}); }
  uint32_t AddInteger(int64_t value) {
    return Add({.kind = PlainKind::kInteger, .integer = value});
  }
  uint32_t AddReal(double value) { return Add({.kind = PlainKind::kReal, .real = value}); }
  uint32_t AddText(std::string_view text) {
    return Add({.kind = PlainKind::kText,
                .count = static_cast<uint32_t>(text.size()),
                .text = text.data()});
  }
  // A list, or a dictionary: key, value, key, value, ...
  uint32_t AddList(PlainKind kind, std::span<const uint32_t> items) {
    const uint32_t node = Add({.kind = kind, .room = {}});
    Append(node, items);
    return node;
  }
  void Append(uint32_t list, std::span<const uint32_t> items);

  // A copy of the text, as long as the tree is there.
  std::string_view Keep(std::string_view text);

  PlainKind KindOf(uint32_t node) const { return nodes_[node].kind; }
  bool IsCall(uint32_t node) const {
    return nodes_[node].kind == PlainKind::kNone && nodes_[node].count != 0;
  }
  std::span<const uint32_t> ItemsOf(uint32_t list) const {
    return {items_.data() + nodes_[list].room.begin, nodes_[list].count};
  }
  size_t size() const { return nodes_.size(); }

  void SetRoot(uint32_t node) { root_ = node; }
  PlainValue root() const { return nodes_.empty() ? PlainValue() : PlainValue(this, root_); }

  // How much may be looked at. From there on all values are empty, and WasCutShort() is true.
  void SetMostVisits(uint64_t most) { visits_left_ = most; }
  bool WasCutShort() const { return was_cut_short_; }

 private:
  friend class PlainValue;

  struct Room {
    uint32_t begin = 0;  // of items_
    uint32_t size = 0;
  };
  struct Node {
    PlainKind kind = PlainKind::kNone;
    uint32_t count = 0;  // of a text's bytes, of a list's items; of none: 1 if it stands for a call
    union {
      int64_t integer = 0;  // of a truth value 0 or 1
      double real;
      const char* text;
      Room room;
    };
  };
  static_assert(sizeof(Node) == 16);

  uint32_t Add(const Node& node) {
    nodes_.push_back(node);
    return static_cast<uint32_t>(nodes_.size() - 1);
  }

  bool Visit(uint64_t count) const {
    if (count <= visits_left_) {
      visits_left_ -= count;
      return true;
    }
    visits_left_ = 0;
    was_cut_short_ = true;
    return false;
  }

  std::vector<Node> nodes_;
  std::vector<uint32_t> items_;  // of all lists; one that grew may have moved to the end
  std::vector<std::unique_ptr<char[]>> texts_;
  size_t text_room_ = 0;  // at the end of the last of texts_
  uint32_t root_ = 0;
  mutable uint64_t visits_left_ = UINT64_MAX;
  mutable bool was_cut_short_ = false;
};

inline void PlainTree::Append(uint32_t list, std::span<const uint32_t> items) {
  Node& node = nodes_[list];
  const auto size = static_cast<uint32_t>(node.count + items.size());
  if (size > node.room.size) {
    const Room room{.begin = static_cast<uint32_t>(items_.size()),
                    .size = node.room.size == 0 ? size : std::max(size, node.room.size * 2)};
    items_.resize(items_.size() + room.size);
    std::copy_n(items_.begin() + node.room.begin, node.count, items_.begin() + room.begin);
    node.room = room;
  }
  std::copy(items.begin(), items.end(), items_.begin() + node.room.begin + node.count);
  node.count = size;
}

inline std::string_view PlainTree::Keep(std::string_view text) {
  constexpr size_t kChunkBytes = 64 << 10;
  if (text.size() > text_room_) {
    text_room_ = std::max(text.size(), kChunkBytes);
    texts_.push_back(std::make_unique_for_overwrite<char[]>(text_room_));
  }
  text_room_ -= text.size();
  char* const copy = texts_.empty() ? nullptr : texts_.back().get() + text_room_;
  text.copy(copy, text.size());
  return {copy, text.size()};
}

inline bool PlainValue::Is(PlainKind kind) const {
  return tree_ != nullptr && tree_->KindOf(node_) == kind;
}

inline size_t PlainValue::size() const {
  return Is(PlainKind::kList) && !tree_->WasCutShort() ? tree_->ItemsOf(node_).size() : 0;
}

inline PlainValue PlainValue::At(size_t item) const {
  return item < size() && tree_->Visit(1) ? PlainValue(tree_, tree_->ItemsOf(node_)[item])
                                          : PlainValue();
}

inline PlainValue PlainValue::Get(std::string_view key) const {
  if (!Is(PlainKind::kDictionary)) return {};
  const std::span<const uint32_t> items = tree_->ItemsOf(node_);
  for (size_t i = 0; i + 1 < items.size() && tree_->Visit(1); i += 2) {
    const PlainTree::Node& name = tree_->nodes_[items[i]];
    if (name.kind == PlainKind::kText && std::string_view(name.text, name.count) == key) {
      return {tree_, items[i + 1]};
    }
  }
  return {};
}

inline int64_t PlainValue::Integer(int64_t otherwise) const {
  return Is(PlainKind::kInteger) || Is(PlainKind::kBool) ? tree_->nodes_[node_].integer : otherwise;
}

// A long text is looked at for longer.
inline std::string_view PlainValue::Text() const {
  if (!Is(PlainKind::kText)) return {};
  const PlainTree::Node& node = tree_->nodes_[node_];
  return tree_->Visit(node.count / 8) ? std::string_view(node.text, node.count)
                                      : std::string_view();
}

template <typename Visitor>
void PlainValue::VisitEntries(Visitor&& visit) const {
  if (!Is(PlainKind::kDictionary)) return;
  const std::span<const uint32_t> items = tree_->ItemsOf(node_);
  for (size_t i = 0; i + 1 < items.size() && tree_->Visit(1); i += 2) {
    visit(PlainValue(tree_, items[i]), PlainValue(tree_, items[i + 1]));
  }
}

}  // namespace batchlight
