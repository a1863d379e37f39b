// The attribution tree as a table: parents before children, the level in a column of its own.
#include "analysis/result/result_column.h"
#include "analysis/tables/overview_tables.h"

namespace batchlight {
namespace {

double Share(double part, double whole) { return whole <= 0 ? 0 : 100 * part / whole; }

}  // namespace

ResultTable MakeAttributionTable(const RunOverview& overview) {
  const AttributionTree& tree = overview.tree;
  const char* mean = tree.per_step ? "Mean per step that counts" : "In the whole run";
  const std::string inside = std::string(mean) + ", with all that is inside";
  ResultTable table{.name = "attribution", .title = "Model, modules, operators, kernels"};
  table.columns = {CountColumn("Level",
                               "0 = in nothing; a row is inside the last row above that "
                               "has a smaller level"),
                   TextColumn("Kind",
                              "phase, range, module, operator, kernel, copy, memset, "
                              "graph, unattributed"),
                   TextColumn("Name", ""),
                   TextColumn("Detail", "Class of a module, first input shapes of an operator"),
                   TextColumn("Pass", "backward, or empty"),
                   RealColumn("Calls", mean),
                   TimeColumn("CPU Self", std::string(mean) + ", without what is inside"),
                   TimeColumn("CPU Forward", inside),
                   TimeColumn("CPU Backward", inside),
                   PercentColumn("CPU Share", "CPU forward and backward / mean step"),
                   TimeColumn("GPU Self", std::string(mean) + ", launched by the row itself"),
                   TimeColumn("GPU Forward", inside),
                   TimeColumn("GPU Backward", inside),
                   PercentColumn("GPU Share", "Of all GPU time in the tree")};
  double gpu_ns = 0;
  double cpu_ns = 0;
  for (const TreeNode& node : tree.nodes) {
    if (node.parent >= 0) continue;
    gpu_ns += node.gpu_ns();
    cpu_ns += node.cpu_ns();
  }
  const double whole_ns = tree.step_ns > 0 ? tree.step_ns : cpu_ns;
  for (const TreeNode& node : tree.nodes) {
    const bool work = IsGpuWork(node.kind);
    table.rows.push_back({int64_t{node.depth}, std::string(TreeKindName(node.kind)), node.name,
                          std::string(overview.store->Text(node.detail)),
                          std::string(node.backward ? "backward" : ""), node.calls,
                          NanosecondsCell(work ? 0 : node.self_ns),
                          NanosecondsCell(node.cpu_forward_ns),
                          NanosecondsCell(node.cpu_backward_ns), Share(node.cpu_ns(), whole_ns),
                          NanosecondsCell(work ? node.self_ns : node.gpu_self_ns),
                          NanosecondsCell(node.gpu_forward_ns),
                          NanosecondsCell(node.gpu_backward_ns), Share(node.gpu_ns(), gpu_ns)});
  }
  return table;
}

}  // namespace batchlight
