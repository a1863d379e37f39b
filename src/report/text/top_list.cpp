#include "report/text/top_list.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "report/text/kernel_text.h"
#include "report/text/run_text.h"
#include "report/text/told_apart.h"

namespace batchlight {
namespace {

// Keeps the largest rows. In a run without steps, shares are of `whole_ns`.
TopList Finish(TopList list, double whole_ns, size_t most_rows) {
  const auto larger = [](const TopRow& a, const TopRow& b) { return a.value_ns > b.value_ns; };
  std::erase_if(list.rows, [](const TopRow& row) { return row.value_ns <= 0; });
  std::stable_sort(list.rows.begin(), list.rows.end(), larger);
  if (list.rows.size() > most_rows) list.rows.resize(most_rows);
  if (!list.per_step && whole_ns > 0) {
    for (TopRow& row : list.rows) row.share = row.value_ns / whole_ns;
  }
  return list;
}

TopList Operators(const RunOverview& overview, bool per_step, size_t most_rows) {
  TopList list{
      .key = "operators", .title = "Operators", .noun = "operators", .measure = "self time"};
  list.per_step = per_step;
  list.share_of = per_step ? "of step" : "of all";
  for (const OperatorRow& row : overview.operators.by_name) {
    const double total = double(row.self_ns);
    list.rows.push_back({.name = std::string(overview.store->Text(row.name)),
                         .calls = row.calls,
                         .total_ns = total,
                         .value_ns = per_step ? row.self_per_step_ns : total,
                         .share = row.share_of_step});
  }
  return Finish(std::move(list), double(overview.operators.self_ns), most_rows);
}

TopList Modules(const RunOverview& overview, bool per_step, size_t most_rows) {
  TopList list{.key = "modules", .title = "Modules", .noun = "modules"};
  list.measure = overview.modules.has_backward ? "self time, forward and backward" : "self time";
  list.per_step = per_step;
  list.share_of = per_step ? "of step" : "of all";
  double whole = 0;
  for (const ModuleRow& row : overview.modules.rows) {
    const double total = double(row.own_ns());
    const double value = per_step ? row.own_per_step_ns() : total;
    whole += total;
    list.rows.push_back({.name = row.path,
                         .detail = row.class_name == row.path ? "" : row.class_name,
                         .calls = row.calls,
                         .total_ns = total,
                         .value_ns = value,
                         .share = row.own_share});
  }
  return Finish(std::move(list), whole, most_rows);
}

// "step 12" -> "step", "ProfilerStep#3" -> "ProfilerStep"
std::string_view WithoutNumber(std::string_view name) {
  return name.substr(0, name.find_last_not_of("0123456789#_: ") + 1);
}

// The steps themselves would fill the list of ranges and add nothing to the chart.
bool IsStepRange(const StepSet& steps, std::string_view message) {
  const ProcessSteps* main = steps.Main();
  return main != nullptr && main->source == StepSource::kNvtxRange &&
         WithoutNumber(message) == WithoutNumber(main->marker);
}

TopList Ranges(const RunOverview& overview, bool per_step, size_t most_rows) {
  TopList list{
      .key = "nvtx_ranges", .title = "NVTX ranges", .noun = "NVTX ranges", .measure = "time"};
  list.per_step = per_step;
  list.share_of = per_step ? "of step" : "of all";
  double whole = 0;
  for (const NvtxRow& row : overview.nvtx.rows) {
    const std::string_view message = overview.store->Text(row.message);
    if (IsStepRange(overview.steps, message)) continue;
    const double total = double(row.total_ns);
    whole += double(row.self_ns);
    list.rows.push_back({.name = std::string(message),
                         .detail = row.domain,
                         .calls = row.calls,
                         .total_ns = total,
                         .value_ns = per_step ? row.total_per_step_ns : total,
                         .share = row.share_of_step});
  }
  return Finish(std::move(list), whole, most_rows);
}

TopList Kernels(const RunOverview& overview, bool per_step, size_t most_rows) {
  TopList list{.key = "kernels", .title = "Kernels", .noun = "kernels", .measure = "GPU time"};
  list.per_step = per_step;
  for (const KernelRow& row : overview.gpu.kernels) {
    const double total = double(row.total_ns);
    const std::string name(overview.store->Text(row.name));
    list.rows.push_back({.name = name,
                         .label = KernelLabel(name),
                         .detail = std::string(KernelKindName(row.kind.kind)),
                         .calls = row.calls,
                         .total_ns = total,
                         .value_ns = per_step ? row.per_step_ns : total,
                         .share = row.share});
  }
  list.share_of = "of GPU time";
  list = Finish(std::move(list), double(overview.gpu.work_ns), most_rows);
  std::vector<std::string> labels, names;
  for (const TopRow& row : list.rows) {
    labels.push_back(row.shown());
    names.push_back(PlainKernelName(row.name));
  }
  TellApart(labels, names);
  for (size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] != list.rows[i].shown()) list.rows[i].label = labels[i];
  }
  return list;
}

}  // namespace

std::vector<TopList> MakeTopLists(const RunOverview& overview, size_t most_rows) {
  const bool per_step = overview.steps.Main() != nullptr;
  std::vector<TopList> lists;
  lists.push_back(Kernels(overview, per_step, most_rows));
  lists.push_back(Operators(overview, per_step, most_rows));
  lists.push_back(Modules(overview, per_step, most_rows));
  lists.push_back(Ranges(overview, per_step, most_rows));
  std::erase_if(lists, [](const TopList& list) { return list.rows.empty(); });
  for (TopList& list : lists)
    list.whose = per_step ? StepsOfRanks(overview) : MeanOfRanks(overview);
  return lists;
}

}  // namespace batchlight
