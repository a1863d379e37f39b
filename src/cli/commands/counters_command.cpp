// batchlight counters: which hardware counters there are, and in how many passes they are read.
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analysis/counters/metrics.h"
#include "base/split.h"
#include "capture/program/counter_passes.h"
#include "capture/program/cupti_folder.h"
#include "cli/flags/command.h"
#include "cli/flags/flags.h"

namespace batchlight::cli {
namespace {

struct CounterFlags {
  bool list = false;
  bool all = false;
  bool samples = false;
  std::string chip = "-";
  std::string sets;
  std::string format = "table";
};

using nlohmann::ordered_json;

ordered_json ToJson(const capture::PassPlan& plan, std::string_view set) {
  return {{"set", set},
          {"chip", plan.chip},
          {"library", plan.library},
          {"passes", plan.passes},
          {"missing", plan.missing},
          {"needs_several_passes", plan.several}};
}

void PrintNames(const char* what, const std::vector<std::string>& names) {
  for (const std::string& name : names) std::printf("  %s  %s\n", what, name.c_str());
}

void PrintPlan(const capture::PassPlan& plan, const CounterSet& set) {
  std::printf("%s: %s\n", std::string(set.key).c_str(), std::string(set.question).c_str());
  std::printf("  %zu %s\n", plan.passes.size(), plan.passes.size() == 1 ? "pass" : "passes");
  for (size_t i = 0; i < plan.passes.size(); ++i) {
    for (const std::string& name : plan.passes[i]) {
      const CounterMetric* const known = FindCounterMetric(name);
      std::printf("  %3zu  %-72s %s\n", i + 1, name.c_str(),
                  known != nullptr ? std::string(known->title).c_str() : "");
    }
  }
  PrintNames("not on this chip:        ", plan.missing);
  PrintNames("more than one pass alone:", plan.several);
  std::printf("\n");
}

Status ListSets(const CounterFlags& flags, const std::string& folder) {
  ordered_json rows = ordered_json::array();
  std::vector<CounterSet> sets;
  if (flags.sets.empty()) {
    sets.assign(CounterSets().begin(), CounterSets().end());
  } else {
    sets.push_back({flags.sets, "as asked for"});
  }
  for (const CounterSet& set : sets) {
    ASSIGN_OR_RETURN(const WantedMetrics wanted, MetricsOf(SplitAtCommas(set.key)));
    ASSIGN_OR_RETURN(const capture::PassPlan plan, capture::PlanPasses({.cupti_folder = folder,
                                                                        .chip = flags.chip,
                                                                        .samples = flags.samples,
                                                                        .always = wanted.always,
                                                                        .others = wanted.others}));
    if (&set == &sets.front() && flags.format == "table") {
      std::printf("Chip %s, %s\n\n", plan.chip.c_str(), plan.library.c_str());
    }
    if (flags.format == "json") {
      rows.push_back(ToJson(plan, set.key));
    } else {
      PrintPlan(plan, set);
    }
  }
  if (flags.format == "json") std::printf("%s\n", rows.dump(2).c_str());
  return {};
}

Status ListMetrics(const CounterFlags& flags, const std::string& folder) {
  ASSIGN_OR_RETURN(const std::vector<capture::MetricLine> metrics,
                   capture::MetricsOfChip(
                       {.cupti_folder = folder, .chip = flags.chip, .samples = flags.samples}));
  ordered_json rows = ordered_json::array();
  for (const capture::MetricLine& metric : metrics) {
    if (flags.format == "json") {
      rows.push_back({{"name", metric.name},
                      {"type", metric.type},
                      {"unit", metric.unit},
                      {"help", metric.help}});
    } else {
      std::printf("%-10s %-60s %-14s %s\n", metric.type.c_str(), metric.name.c_str(),
                  metric.unit.c_str(), metric.help.c_str());
    }
  }
  if (flags.format == "json") std::printf("%s\n", rows.dump(2).c_str());
  return {};
}

Status Run(const CounterFlags& flags) {
  const std::string folder = capture::FindCuptiFolder({});
  const bool lists = flags.list || !flags.sets.empty();
  if (flags.all || lists) {
    Status status = flags.all ? ListMetrics(flags, folder) : ListSets(flags, folder);
    const bool may_lack_gpu =
        status.exit_code() == static_cast<int>(ErrorKind::kInput) && flags.chip == "-";
    if (!may_lack_gpu) return status;
    return InputError(status.message() + "; --chip names one that is not here, such as GH100");
  }
  for (const CounterSet& set : CounterSets()) {
    std::printf("%-12s %s\n", std::string(set.key).c_str(), std::string(set.question).c_str());
  }
  const auto chips = capture::KnownChips(folder);
  if (!chips.ok()) {
    std::printf("\nWhich chips have which of them is not known: %s\n",
                chips.status().message().c_str());
    return {};
  }
  std::string names;
  for (const std::string& chip : chips.value()) names += " " + chip;
  std::printf(
      "\nChips:%s\n`batchlight counters --list` plans the sets for this machine's GPU, with --chip "
      "for another.\n",
      names.c_str());
  return {};
}

}  // namespace

void RegisterCounters(const Command& app, Outcome& outcome) {
  auto flags = std::make_shared<CounterFlags>();
  const Command command =
      app.Add("counters", "Hardware counters: sets, metrics, and the passes that they take");
  command.Details(
      "Hardware has few counters, so that what is read together has to fit into a pass. CUPTI is "
      "asked, which knows many chips and needs no GPU for it. BATCHLIGHT_CUPTI names its folder "
      "where it is not found beside PyTorch or in a toolkit.");
  command.Switch("--list", &flags->list, "Plan every set, or those of --set");
  command.Option("--set", &flags->sets, "Sets and metrics by name, with commas between them")
      .TypeName("SET");
  command
      .Option("--chip", &flags->chip,
              "GH100 (H100, H200), GA100 (A100), AD102, GB100, ...; - is this machine's GPU")
      .TypeName("CHIP")
      .ShowDefault();
  command.Switch("--samples", &flags->samples, "For samples over time: one pass only");
  command.Switch("--metrics", &flags->all, "All metrics that the chip has");
  command.Option("-f,--format", &flags->format, "table or json")
      .OneOf({"table", "json"})
      .ShowDefault();
  command.Runs([flags, &outcome] { outcome.status = Run(*flags); });
}

}  // namespace batchlight::cli
