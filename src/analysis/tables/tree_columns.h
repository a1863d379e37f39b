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

// Rules may name TreeTimes(), and besides
//   calls, cpu_self   of a node;
//   calls, cpu_self, cpu_total, beside_self, its_backward, gpu_self, gpu_total, in_backward   of a
//   group; step, all_gpu     the mean step, and all GPU time in the tree.
struct TreeColumn {
  ResultColumn column;
  std::vector<std::string_view> only_with;  // left out where one of these times is 0
};
std::vector<TreeColumn> TreeNodeColumns(const AttributionTree& tree);
std::vector<TreeColumn> TreeOperatorColumns();
std::vector<TreeColumn> TreeKernelColumns();  // "kind" is that of the table of kernels

}  // namespace batchlight
