#include "report/text/run_text.h"

#include <algorithm>
#include <string_view>

#include "analysis/run/detailed_steps.h"
#include "analysis/run/program_processes.h"
#include "report/text/number_text.h"
#include "report/text/utf8.h"

namespace batchlight {

std::string RunTitle(const SessionInfo& session) { return CleanText(ProgramName(session)); }

std::string MachineLine(const SessionInfo& session) {
  std::string line;
  const auto add = [&](const std::string& text) {
    if (!line.empty()) line += ", ";
    line += CleanText(text);
  };
  for (const auto& [name, value] : session.machine) {
    if (value.empty()) continue;
    if (name == "CPU" || name == "GPU") add(value);
    if (name == "Processors") add(value + (value == "1" ? " processor" : " processors"));
    if (name == "Memory") add(value + " memory");
  }
  for (const auto& [name, value] : session.software) {
    if (name == "PyTorch" || name == "CUDA") add(name + " " + value);
  }
  return line;
}

std::string NameOfRank(const RunOverview& overview, const ProcessSteps& process) {
  if (process.rank >= 0) return "rank " + std::to_string(process.rank);
  return "pid " + std::to_string(overview.store->processes.pid[process.process.row()]);
}

std::string MainRank(const RunOverview& overview) {
  const std::vector<ProcessSteps>& all = overview.steps.processes;
  return all.size() < 2 ? "" : NameOfRank(overview, all.front());
}

namespace {

const char* NounOfRanks(const RunOverview& overview) {
  const std::vector<ProcessSteps>& all = overview.steps.processes;
  const bool ranks = std::all_of(all.begin(), all.end(),
                                 [](const ProcessSteps& process) { return process.rank >= 0; });
  return ranks ? "ranks" : "processes";
}

}  // namespace

std::string MeanOfRanks(const RunOverview& overview) {
  const size_t count = overview.steps.processes.size();
  return count < 2 ? "" : "mean of " + CountText(count) + ' ' + NounOfRanks(overview);
}

std::string FromSteps(const RunOverview& overview) {
  const DetailedSteps steps = FindDetailedSteps(overview.steps);
  if (steps.all()) return "";
  return "from " + CountText(steps.counted) + " of " + CountText(steps.of_run) + " steps";
}

namespace {

std::string Both(std::string whose, const std::string& steps) {
  if (!whose.empty() && !steps.empty()) whose += ", ";
  return whose + steps;
}

}  // namespace

std::string StepsOfMain(const RunOverview& overview) {
  return Both(MainRank(overview), FromSteps(overview));
}

std::string StepsOfRanks(const RunOverview& overview) {
  return Both(MeanOfRanks(overview), FromSteps(overview));
}

std::string SumOfRanks(const RunOverview& overview) {
  return overview.steps.processes.size() < 2 ? "" : std::string("all ") + NounOfRanks(overview);
}

std::string TitleWith(std::string_view title, const std::string& whose) {
  return std::string(title) + (whose.empty() ? "" : ", " + whose);
}

std::string RateText(double per_second) {
  if (per_second <= 0) return "";
  if (per_second < 1) return SignificantText(60 * per_second) + " steps/min";
  return SignificantText(per_second) + " steps/s";
}

std::string StepSentence(const RunOverview& overview) {
  const ProcessSteps* main = overview.steps.Main();
  if (main == nullptr) return StepsFoundSentence(overview.steps);
  const Sample& duration = main->duration;
  const std::string rank = MainRank(overview);
  std::string sentence = "A step " + (rank.empty() ? "" : "of " + rank + " ") + "takes " +
                         TimeText(double(duration.median));
  if (duration.count == 1) return sentence + " (one step).";
  const bool percentiles = HasPercentiles(duration);
  sentence += " (median of " + CountText(duration.count) + " steps; ";
  sentence += percentiles ? "nine of ten between " : "between ";
  sentence += TimeText(double(percentiles ? duration.p5 : duration.min)) + " and " +
              TimeText(double(percentiles ? duration.p95 : duration.max)) + ")";
  const StepRate rate = RateOfSteps(overview, 0);
  if (rate.of_gpu) sentence += ", and the GPU takes " + TimeText(rate.period_ns);
  sentence += ": " + RateText(rate.per_second()) + ". The mean is " + TimeText(duration.mean);
  if (rate.of_gpu) sentence += ", on the GPU " + TimeText(rate.mean_period_ns);
  if (rate.has_two()) sentence += ": " + RateText(rate.mean_per_second());
  return sentence + ".";
}

std::string StepsFoundSentence(const StepSet& steps) {
  std::string sentence = steps.Main() == nullptr ? steps.how : "steps are taken " + steps.how;
  if (!sentence.empty() && sentence[0] >= 'a' && sentence[0] <= 'z') sentence[0] -= 'a' - 'A';
  return sentence + ".";
}

}  // namespace batchlight
