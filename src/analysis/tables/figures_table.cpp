// The figures that head the summary and the page, one a row, each with whose and of what it is.
#include "analysis/result/result_column.h"
#include "analysis/run/step_rate.h"
#include "analysis/tables/overview_tables.h"

namespace batchlight {
namespace {

struct Figure {
  std::string whose;
  std::string name;
  double value = 0;
  std::string unit;
  std::string of;
};

const Columns<Figure>& FigureColumns() {
  static const Columns<Figure> columns = {
      {TextColumn("whose", "Whose", "Rank or process; empty: the mean of all ranks"),
       &Figure::whose},
      {TextColumn("figure", "Figure", ""), &Figure::name},
      {RealColumn("value", "Value", "In the unit beside it"), &Figure::value},
      {TextColumn("unit", "Unit", "ns, %, steps/s"), &Figure::unit},
      {TextColumn("of", "Of", "What it is a mean, a median or a share of"), &Figure::of}};
  return columns;
}

std::string WhoseFigures(const RunOverview& overview, const ProcessSteps& process) {
  if (process.rank >= 0) return "rank " + std::to_string(process.rank);
  return "pid " + std::to_string(overview.store->processes.pid[process.process.row()]);
}

void AddSteps(const RunOverview& overview, size_t row, std::vector<Figure>& figures) {
  const ProcessSteps& process = overview.steps.processes[row];
  const std::string whose = WhoseFigures(overview, process);
  const StepRate rate = RateOfSteps(overview, row);
  const std::string steps = std::to_string(process.duration.count) + " steps that count";
  figures.push_back(
      {whose, "median step", double(process.duration.median), "ns", "of the " + steps});
  figures.push_back({whose, "mean step", process.duration.mean, "ns", "of the " + steps});
  const char* of_cpu = "step + time between steps)";
  const char* of_gpu = "step on the GPU, which the CPU runs ahead of)";
  const std::string of = rate.of_gpu ? of_gpu : of_cpu;
  figures.push_back({whose, "rate", rate.per_second(), "steps/s", "1 / (median " + of});
  figures.push_back({whose, "mean rate", rate.mean_per_second(), "steps/s", "1 / (mean " + of});
}

void AddGpu(const RunOverview& overview, const GpuBreakdown& gpu, std::vector<Figure>& figures) {
  if (gpu.window.count == 0) return;
  const std::string whose = WhoseFigures(overview, *overview.steps.Of(gpu.process));
  const std::string name = "GPU " + std::to_string(gpu.device);
  const std::string windows =
      std::to_string(gpu.window.count) + " steps that count, as the GPU runs them";
  figures.push_back({whose, name + " busy", gpu.busy_share * 100, "%", "of the " + windows});
  figures.push_back({whose, name + " communication",
                     gpu.steady[static_cast<size_t>(GpuPart::kCommunication)].mean, "ns",
                     "mean of the " + windows + "; what no computing hides"});
}

}  // namespace

ResultTable MakeFiguresTable(const RunOverview& overview) {
  std::vector<Figure> figures;
  for (size_t row = 0; row < overview.steps.processes.size(); ++row) {
    AddSteps(overview, row, figures);
  }
  for (const GpuBreakdown& gpu : overview.gpu.breakdowns) AddGpu(overview, gpu, figures);
  const KernelRow* top = nullptr;
  for (const KernelRow& row : overview.gpu.kernels) {
    if (top == nullptr || row.share > top->share) top = &row;
  }
  if (top != nullptr) {
    figures.push_back({"", "top kernel", top->share * 100, "%",
                       "of all GPU time of the steps that count: " +
                           std::string(overview.store->Text(top->name))});
  }
  return TableOf("figures", "Figures", FigureColumns(), figures);
}

}  // namespace batchlight
