#include "cli/commands/plan_counters.h"

#include <algorithm>
#include <cstdio>

#include "analysis/counters/metrics.h"
#include "capture/program/counter_passes.h"
#include "capture/program/cupti_folder.h"
#include "capture/program/host_query.h"
#include "store/counter_sets.h"

namespace batchlight::cli {
namespace {

using Passes = std::vector<std::vector<std::string>>;

// Those that take turns. Where a launch is replayed CUPTI divides the metrics into passes itself.
Passes PassesOf(const CounterOptions& counters, const capture::PassPlan& plan) {
  if (counters.first_pass_only) return {plan.passes.front()};
  if (counters.replay.empty()) return plan.passes;
  std::vector<std::string> all;
  for (const std::vector<std::string>& pass : plan.passes) {
    for (const std::string& name : pass) {
      if (std::find(all.begin(), all.end(), name) == all.end()) all.push_back(name);
    }
  }
  return {all};
}

// As inject/counting/counter_plan.h reads them.
std::string PlanLines(const CounterOptions& counters, const capture::PassPlan& plan,
                      const std::string& set) {
  std::string lines;
  const Passes passes = PassesOf(counters, plan);
  for (size_t i = 0; i < passes.size(); ++i) {
    lines += "counters.pass=" + set;
    if (passes.size() > 1) lines += " " + std::to_string(i + 1);
    char separator = '=';
    for (const std::string& name : passes[i]) {
      lines += separator + name;
      separator = ',';
    }
    lines += '\n';
  }
  const auto add = [&](const char* key, uint64_t value) {
    lines += std::string("counters.") + key + "=" + std::to_string(value) + "\n";
  };
  add("first", counters.first_step);
  add("steps", counters.steps);
  add("share", counters.share_ppm);
  add("kernels", counters.kernel_room);
  if (!counters.replay.empty()) lines += "counters.replay=" + counters.replay + "\n";
  if (counters.rank) add("rank", *counters.rank);
  return lines;
}

std::string Joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// With --run-as the tool is root, and the packages beside the program are its user's.
std::string CuptiFolderOf(const capture::SessionOptions& session) {
  return capture::FindCuptiFolder(
      session.command, session.run_as ? capture::CuptiOf::kToolAlone : capture::CuptiOf::kAnyone);
}

}  // namespace

Status PlanCounters(const CounterOptions& counters, capture::SessionOptions& session,
                    std::vector<std::string>& say) {
  if (counters.sets.empty()) return {};
  ASSIGN_OR_RETURN(const WantedMetrics wanted, MetricsOf(counters.sets));
  const auto plan = capture::PlanPasses(
      {.cupti_folder = CuptiFolderOf(session), .always = wanted.always, .others = wanted.others});
  const auto leave_out = [&](const std::string& why) {
    session.reasons.emplace_back("counters", "hardware counters are not read: " + why);
    say.push_back("hardware counters are not read: " + why);
    return Status();
  };
  if (!plan.ok()) return leave_out(plan.status().message());
  if (plan->passes.empty()) return leave_out("this GPU has none of them");
  if (!plan->missing.empty()) {
    session.facts.emplace_back("counters.missing", Joined(plan->missing));
  }
  session.facts.emplace_back("counters.chip", plan->chip);
  session.extra +=
      PlanLines(counters, plan.value(),
                std::string(counters.replay.empty() ? "" : kReplayedSet) + Joined(counters.sets));
  return {};
}

void ChooseStalls(const StallOptions& stalls, const CounterOptions& counters,
                  capture::SessionOptions& session) {
  if (!stalls.wanted) return;
  const auto add = [&session](const char* key, uint64_t value) {
    session.extra += std::string("stalls.") + key + "=" + std::to_string(value) + "\n";
  };
  add("windows", stalls.windows);
  add("first", stalls.first_step);
  add("share", stalls.share_ppm);
  if (stalls.continuous) add("continuous", 1);
  if (counters.rank) add("rank", *counters.rank);
}

Status ChooseGpuMetrics(const ProfileOptions& options, capture::SessionOptions& session) {
  if (options.gpu_metric_sets.empty()) return {};
  ASSIGN_OR_RETURN(const WantedMetrics wanted, MetricsOf(options.gpu_metric_sets));
  session.gpu_sampling.metrics = wanted.others;
  session.gpu_sampling.cupti_folder = CuptiFolderOf(session);
  return {};
}

bool PrintGpuMetricsHelp(const ParsedFlags& flags) {
  bool printed = false;
  for (const Flag flag : {Flag::kGpuMetricsDevices, Flag::kGpuMetricsDevice}) {
    if (printed || flags.Text(flag) != "help") continue;
    printed = true;
    const auto answer = capture::AskHost({"gpu"});
    size_t count = 0;
    if (answer.ok()) {
      for (const auto& [key, value] : answer->lines) {
        if (key != "gpu") continue;
        std::printf("%s\n", value.c_str());
        ++count;
      }
    }
    if (count == 0) std::printf("no GPU was found; `batchlight doctor` says why\n");
  }
  if (flags.Text(Flag::kGpuMetricsSet) != "help") return printed;
  for (const CounterSet& set : CounterSets()) {
    std::printf("%-12s %s\n", std::string(set.key).c_str(), std::string(set.question).c_str());
  }
  std::printf("`batchlight counters --samples --list` has their metrics\n");
  return true;
}

}  // namespace batchlight::cli
