#include "report/charts/top_list_picture.h"

#include "report/charts/bar_chart.h"
#include "report/text/number_text.h"
#include "report/text/run_text.h"

namespace batchlight {

Result<std::string> DrawTopList(const RunOverview& overview, const TopList& list) {
  BarChart chart;
  chart.title = "Top " + std::to_string(list.rows.size()) + " " + list.noun + " of " +
                RunTitle(overview.session);
  const ProcessSteps* steps = overview.steps.Main();
  chart.subtitle = MachineLine(overview.session);
  if (steps != nullptr) {
    chart.subtitle = "step: " + TimeText(double(steps->duration.median)) +
                     (chart.subtitle.empty() ? "" : ", on " + chart.subtitle);
  }
  chart.measure = list.measure + (list.per_step ? " per step" : " in the whole run");
  for (const TopRow& row : list.rows) {
    chart.bars.push_back({row.shown(), row.value_ns, PercentText(row.share)});
  }
  return RenderBarChart(chart);
}

}  // namespace batchlight
