#include "analysis/tables/tree_columns.h"

#include <string>
#include <utility>

#include "analysis/result/result_column.h"

namespace batchlight {
namespace {

constexpr TreeTime kTimes[] = {
    {"cpu", false, std::nullopt},     {"gpu", true, std::nullopt},
    {"backward", std::nullopt, true}, {"cpu_forward", false, false},
    {"cpu_backward", false, true},    {"gpu_forward", true, false},
    {"gpu_backward", true, true},     {"beside", false, std::nullopt, true},
};

constexpr TreeSum kNodeSums[] = {{"calls", "calls"}, {"cpu_self", "self", false}};

// Forward and backward of one name are apart in the tree: each holds its own calls.
constexpr TreeSum kOperatorSums[] = {
    {"calls", "calls"},
    {"cpu_self", "self"},
    {"beside_self", "beside"},
    {"gpu_self", "launched"},
    {"cpu_total", "cpu_forward", std::nullopt, false, true},
    {"cpu_total", "cpu_backward", std::nullopt, true, true},
    {"gpu_total", "gpu_forward", std::nullopt, false, true},
    {"gpu_total", "gpu_backward", std::nullopt, true, true},
    {"its_backward", "cpu_backward", std::nullopt, false, true},
};

constexpr TreeSum kKernelSums[] = {
    {"calls", "calls"}, {"gpu_self", "self"}, {"in_backward", "self", std::nullopt, true}};

constexpr char kBesideHelp[] =
    "CPU time of threads that the step does not wait for (a DataLoader's, NCCL's), part of no "
    "share";

ResultColumn Time(const SumRule& rule, std::string key, std::string name, std::string help) {
  return Summed(rule, TimeColumn(std::move(key), std::move(name), std::move(help)));
}

ResultColumn Share(std::string_view part, std::string_view whole, std::string key, std::string name,
                   std::string help) {
  SumRule rule = ShareOf(part, whole);
  rule.zero_if_none = true;
  ResultColumn column =
      Summed(rule, PercentColumn(std::move(key), std::move(name), std::move(help)));
  column.decimals = 1;
  return column;
}

ResultColumn Calls(std::string help) {
  return Summed(SumOf("calls"), RealColumn("calls", "Calls", std::move(help)));
}

}  // namespace

std::span<const TreeTime> TreeTimes() { return kTimes; }

std::vector<TreeColumn> TreeNodeColumns(const AttributionTree& tree) {
  const std::string per = tree.per_step ? "per step" : "in the whole run";
  const std::string inside = per + ", with all that is inside";
  const std::string same = "The same of the backward pass";
  return {
      {Time(SumOf("cpu_forward"), "cpu_forward", "CPU fwd", "CPU time " + inside)},
      {Time(SumOf("cpu_backward"), "cpu_backward", "CPU bwd", same), {"backward"}},
      {Time(SumOf("cpu_self"), "cpu_self", "Self", "CPU time in nothing inside")},
      {Share("cpu", "step", "cpu_share", tree.per_step ? "Of step" : "Of run",
             "CPU forward and backward / mean step")},
      {Time(SumOf("beside"), "beside", "Other threads", kBesideHelp), {"beside"}},
      {Time(SumOf("gpu_forward"), "gpu_forward", "GPU fwd", "GPU time " + inside), {"gpu"}},
      {Time(SumOf("gpu_backward"), "gpu_backward", "GPU bwd", same), {"gpu", "backward"}},
      {Share("gpu", "all_gpu", "gpu_share", "Of GPU", "GPU forward and backward / all GPU time"),
       {"gpu"}},
      {Calls("Calls " + per)}};
}

std::span<const TreeSum> TreeNodeSums() { return kNodeSums; }

TreeGroups TreeOperators() {
  std::vector<TreeColumn> columns = {
      {TextColumn("name", "Operator", "")},
      {Calls("Calls of the operator; per step where there are steps")},
      {Time(SumOf("cpu_self"), "cpu_self", "CPU self",
            "Time in the operator and in no operator inside it")},
      {Share("cpu_self", "step", "of_step", "Of step", "CPU self / mean step")},
      {Time(SumOf("cpu_total"), "cpu_total", "CPU total",
            "With the operators inside; a call inside one of the same name counts once")},
      {Time(SumOf("beside_self"), "beside", "Other threads", kBesideHelp), {"beside"}},
      {Time(SumOf("its_backward"), "its_backward", "Its backward",
            "CPU time of the functions that differentiate its calls")},
      {Time(SumOf("gpu_self"), "gpu_self", "GPU",
            "Work on the GPU that the operator launched itself: sum of durations"),
       {"gpu"}},
      {Share("gpu_self", "all_gpu", "of_gpu", "Of GPU", "GPU / all GPU time"), {"gpu"}},
      {Time(SumOf("gpu_total"), "gpu_total", "GPU total", "With the work of the operators inside"),
       {"gpu"}}};
  return {.columns = std::move(columns), .sums = kOperatorSums, .order = {"cpu_self", "gpu_self"}};
}

TreeGroups TreeKernels() {
  std::vector<TreeColumn> columns = {
      {TextColumn("name", "Kernel", "")},
      {TextColumn("kind", "Kind", "By the kernel's name")},
      {Calls("Per step where there are steps")},
      {Time(SumOf("gpu_self"), "gpu_time", "GPU time", "Sum of durations")},
      {Share("gpu_self", "all_gpu", "of_gpu", "Of GPU", "Time / all GPU time")},
      {Time(RatioOf("gpu_self", "calls"), "average", "Average", "Time / calls")},
      {Share("in_backward", "gpu_self", "in_backward", "In backward",
             "Part of its time that the backward pass launched")}};
  return {.work = true, .columns = std::move(columns), .sums = kKernelSums, .order = {"gpu_self"}};
}

}  // namespace batchlight
