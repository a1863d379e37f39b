// Columns that the report page makes from the attribution tree for the steps and the rank that are
// selected: of its nodes, of operators and of kernels by name. Each is a rule over the times of a
// node or a group.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/owners/attribution_tree.h"
#include "analysis/result/result_table.h"

namespace batchlight {

// A time of a node with all that is inside: the own times of which nodes it adds up.
struct TreeTime {
  std::string_view key;
  std::optional<bool> work;  // on the GPU, or calls; nullopt: either
  std::optional<bool> backward;
  bool beside = false;  // instead of own times those on other threads
};
std::span<const TreeTime> TreeTimes();

// A quantity that rules of columns name: what of a node is in it. Of a group of nodes it is the sum
// over them; several entries of one key add up.
struct TreeSum {
  std::string_view key;
  std::string_view of;  // of TreeTimes(), or of the node alone: "calls", "self", "beside" (self on
                        // other threads), "launched" (work on the GPU directly below it)
  std::optional<bool> work;      // of nodes that are work on the GPU, or that are not
  std::optional<bool> backward;  // of nodes of one pass
  bool outermost = false;        // of nodes in no other of their name and pass
};

struct TreeColumn {
  ResultColumn column;
  std::vector<std::string_view> only_with;  // left out where one of these times is 0
};
// Of one node. Rules may name TreeTimes() too.
std::vector<TreeColumn> TreeNodeColumns(const AttributionTree& tree);
std::span<const TreeSum> TreeNodeSums();

// Nodes put together by name.
struct TreeGroups {
  bool work = false;  // work on the GPU, else operators
  std::vector<TreeColumn> columns;
  std::span<const TreeSum> sums;
  std::vector<std::string_view> order;  // by the falling sum of these
};
TreeGroups TreeOperators();
TreeGroups TreeKernels();  // the column "kind" is that of the table of kernels

// Besides, all rules may name "step", the mean step, and "all_gpu", all GPU time in the tree.

}  // namespace batchlight
