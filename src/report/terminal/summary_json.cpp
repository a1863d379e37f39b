#include <nlohmann/json.hpp>

#include "analysis/advice/advice_text.h"
#include "analysis/counters/step_counters.h"
#include "analysis/run/detailed_steps.h"
#include "analysis/run/step_rate.h"
#include "report/terminal/summary.h"
#include "report/text/utf8.h"

namespace batchlight {
namespace {

using nlohmann::ordered_json;

ordered_json SampleJson(const Sample& sample) {
  const auto percentile = [&](int64_t ns) {
    return HasPercentiles(sample) ? ordered_json(ns) : ordered_json();
  };
  return {{"count", sample.count},
          {"total_ns", sample.total},
          {"mean_ns", sample.mean},
          {"min_ns", sample.min},
          {"p5_ns", percentile(sample.p5)},
          {"median_ns", sample.median},
          {"p95_ns", percentile(sample.p95)},
          {"max_ns", sample.max},
          {"standard_deviation_ns", sample.standard_deviation}};
}

ordered_json SessionJson(const SessionInfo& session) {
  ordered_json json = {
      {"source", CleanText(session.source)},   {"format", session.source_format},
      {"command", CleanText(session.command)}, {"start_utc_ns", session.start_utc_ns},
      {"duration_ns", session.duration_ns},    {"events", session.events},
      {"processes", ordered_json::array()}};
  for (const auto& [label, value] : session.software) json["software"][label] = CleanText(value);
  for (const auto& [label, value] : session.machine) json["machine"][label] = CleanText(value);
  for (const ProcessInfo& process : session.processes) {
    json["processes"].push_back({{"pid", process.pid},
                                 {"rank", process.rank},
                                 {"name", CleanText(process.name)},
                                 {"end", process.ExitText()},
                                 {"events", process.events}});
  }
  return json;
}

ordered_json StepsJson(const RunOverview& overview) {
  ordered_json json = {{"how", CleanText(overview.steps.how)},
                       {"processes", ordered_json::array()}};
  for (size_t p = 0; p < overview.steps.processes.size(); ++p) {
    const ProcessSteps& process = overview.steps.processes[p];
    ordered_json one = {{"pid", overview.store->processes.pid[process.process.row()]},
                        {"rank", process.rank},
                        {"source", StepSourceName(process.source)},
                        {"marker", CleanText(process.marker)},
                        {"steps", process.steps.size()},
                        {"duration", SampleJson(process.duration)},
                        {"between_ns", process.between_ns},
                        {"micro_batches", process.micro_batches},
                        {"period_ns", RateOfSteps(overview, p).period_ns},
                        {"steps_per_second", RateOfSteps(overview, p).per_second()},
                        {"mean_steps_per_second", RateOfSteps(overview, p).mean_per_second()},
                        {"outliers", process.outlier_count},
                        {"phases", ordered_json::array()},
                        {"durations_ns", ordered_json::array()},
                        {"kinds", ordered_json::array()}};
    for (const PhaseShare& phase : overview.breakdowns[p].phases) {
      one["phases"].push_back({{"phase", PhaseKindKey(phase.kind)},
                               {"name", CleanText(phase.name)},
                               {"share", phase.share},
                               {"time", SampleJson(phase.steady)}});
    }
    for (const Step& step : process.steps) {
      one["durations_ns"].push_back(step.duration_ns());
      one["kinds"].push_back(StepKindName(step.kind));
    }
    json["processes"].push_back(std::move(one));
  }
  return json;
}

ordered_json StageTotalsJson(const ProcessStages& process) {
  ordered_json json = ordered_json::array();
  for (const StageTotal& total : process.totals) {
    json.push_back({{"stage", StageKindName(total.kind)},
                    {"count", total.count},
                    {"total_ns", total.total_ns},
                    {"share", total.share},
                    {"each_ns", total.each_ns}});
  }
  return json;
}

// Of each training process: its stages, and what its start-up was made of.
ordered_json LivesJson(const RunOverview& overview) {
  ordered_json json = ordered_json::array();
  for (const ProcessStages& process : overview.stages.processes) {
    ordered_json one = {{"pid", overview.store->processes.pid[process.process.row()]},
                        {"rank", process.rank},
                        {"wall_ns", process.wall_ns()},
                        {"stages", StageTotalsJson(process)},
                        {"start_up", ordered_json::object()}};
    for (const StartUpPart& part : PartsByName(process.start_up)) {
      one["start_up"][std::string(part.key) + "_ns"] = part.ns;
    }
    one["start_up"]["largest_imports"] = ordered_json::array();
    for (const PackageImport& import : process.start_up.largest) {
      one["start_up"]["largest_imports"].push_back(
          {{"package", CleanText(import.package)}, {"total_ns", import.ns}});
    }
    json.push_back(std::move(one));
  }
  return json;
}

// Shares are of a step without detail: 0.03 = 3 % longer.
ordered_json RecordingCostJson(const RecordingCost& cost) {
  ordered_json json = {{"steps_with_detail", cost.detailed_steps},
                       {"steps_without_detail", cost.plain_steps},
                       {"plain_step_ns", cost.plain_step_ns}};
  if (cost.measured) {
    const LongerBy& longer = *cost.measured;
    json["measured"] = {{"ns", longer.ns},
                        {"low_ns", longer.low_ns},
                        {"high_ns", longer.high_ns},
                        {"share", cost.Share(longer.ns)},
                        {"low_share", cost.Share(longer.low_ns)},
                        {"high_share", cost.Share(longer.high_ns)},
                        {"samples", longer.samples},
                        {"mean_share", cost.MeanShare()},
                        {"estimated_part_ns", cost.kept_ns},
                        {"without_cuda_graphs", cost.without_graphs}};
  }
  if (cost.budget > 0) json["budget_share"] = cost.budget;
  json["estimate"] = {{"low_ns", cost.low_ns}, {"high_ns", cost.high_ns}};
  json["kinds"] = ordered_json::array();
  for (const RecordedKind& kind : cost.kinds) {
    json["kinds"].push_back({{"what", kind.what},
                             {"per_step", kind.per_step},
                             {"least_ns_each", kind.least_ns},
                             {"most_ns_each", kind.ns_each}});
  }
  return json;
}

ordered_json ModulesJson(const RunOverview& overview) {
  ordered_json json = ordered_json::array();
  for (const ModuleRow& row : overview.modules.rows) {
    json.push_back({{"path", CleanText(row.path)},
                    {"class", CleanText(row.class_name)},
                    {"parent", row.parent},
                    {"calls", row.calls},
                    {"forward_ns", row.total_ns},
                    {"forward_self_ns", row.self_ns},
                    {"backward_ns", row.backward_ns},
                    {"recompute_ns", row.recompute_ns},
                    {"own_per_step_ns", row.own_per_step_ns()},
                    {"own_share_of_step", row.own_share},
                    {"share_of_step", row.share_of_step}});
  }
  return json;
}

ordered_json OperatorsJson(const RunOverview& overview) {
  ordered_json json = ordered_json::array();
  for (const OperatorRow& row : overview.operators.by_name) {
    json.push_back({{"name", CleanText(overview.store->Text(row.name))},
                    {"calls", row.calls},
                    {"self_ns", row.self_ns},
                    {"total_ns", row.total_ns},
                    {"calls_per_step", row.calls_per_step},
                    {"self_per_step_ns", row.self_per_step_ns},
                    {"other_threads_per_step_ns", row.beside_per_step_ns},
                    {"share_of_step", row.share_of_step}});
  }
  return json;
}

ordered_json GpuJson(const RunOverview& overview) {
  const GpuSummary& gpu = overview.gpu;
  ordered_json json = {{"work_ns", gpu.work_ns},           {"unattributed_ns", gpu.unattributed_ns},
                       {"kernels", ordered_json::array()}, {"copies", ordered_json::array()},
                       {"waits", ordered_json::array()},   {"devices", ordered_json::array()}};
  for (const GpuBreakdown& device : gpu.breakdowns) {
    ordered_json one = {{"device", device.device},
                        {"pid", overview.store->processes.pid[device.process.row()]},
                        {"busy_share", device.busy_share},
                        {"window", SampleJson(device.window)}};
    for (size_t i = 0; i < kGpuPartCount; ++i) {
      one["parts"][std::string(GpuPartKey(static_cast<GpuPart>(i)))] = {
          {"share", device.share[i]}, {"mean_ns", device.steady[i].mean}};
    }
    json["devices"].push_back(std::move(one));
  }
  for (const KernelRow& row : gpu.kernels) {
    json["kernels"].push_back({{"name", CleanText(overview.store->Text(row.name))},
                               {"kind", KernelKindName(row.kind.kind)},
                               {"rule", row.kind.rule_id},
                               {"calls", row.calls},
                               {"total_ns", row.total_ns},
                               {"per_step_ns", row.per_step_ns},
                               {"share", row.share}});
  }
  for (const CopyRow& row : gpu.copies) {
    json["copies"].push_back({{"kind", Label(row.kind)},
                              {"source", LabelInSentence(row.source)},
                              {"destination", LabelInSentence(row.destination)},
                              {"calls", row.calls},
                              {"bytes", row.bytes},
                              {"total_ns", row.total_ns},
                              {"per_step_ns", row.per_step_ns}});
  }
  for (const WaitRow& row : gpu.waits) {
    json["waits"].push_back({{"call", CleanText(overview.store->Text(row.call))},
                             {"operator", CleanText(overview.store->Text(row.operator_name))},
                             {"calls", row.calls},
                             {"total_ns", row.total_ns},
                             {"per_step_ns", row.per_step_ns}});
  }
  return json;
}

ordered_json ComputeJson(const Roofline& roofline) {
  ordered_json json = {{"flops_per_step", roofline.flops_per_step},
                       {"tflops", roofline.tflops},
                       {"known_time_share", roofline.known_time_share}};
  if (roofline.mfu > 0) {
    json["peak_tflops"] = roofline.peak_tflops;
    json["peak_dtype"] = roofline.peak_dtype;
    json["mfu"] = roofline.mfu;
  }
  return json;
}

// Without what was not read.
ordered_json CountersJson(const std::vector<StepFigures>& all) {
  ordered_json rows = ordered_json::array();
  for (const StepFigures& figures : all) {
    ordered_json row = {{"device", figures.device},
                        {"steps", figures.steps},
                        {"switch_ns", figures.switch_ns},
                        {"gpu_ns", figures.gpu_ns}};
    const auto add = [&](const char* key, const std::optional<double>& value) {
      if (value) row[key] = *value;
    };
    add("sm_clock_hz", figures.clock_hz);
    add("dram_bytes", figures.dram_bytes);
    add("dram_gbps", figures.dram_gbps);
    add("dram_share", figures.dram_share);
    add("tensor_share", figures.tensor_share);
    add("occupancy", figures.occupancy);
    add("issue_share", figures.issue_share);
    add("l1_hit_share", figures.l1_hit_share);
    add("l2_hit_share", figures.l2_hit_share);
    add("instructions", figures.instructions);
    add("tensor_operations", figures.tensor_operations);
    add("tflops", figures.tflops);
    add("mfu", figures.mfu);
    rows.push_back(std::move(row));
  }
  return rows;
}

ordered_json OverheadJson(const OverheadOf& measured) {
  return {
      {"rounds", measured.rounds},           {"plain_ns", measured.plain_ns},
      {"profiled_ns", measured.profiled_ns}, {"ratio", measured.profiled_ns / measured.plain_ns},
      {"lowest_ratio", 1 + measured.low},    {"highest_ratio", 1 + measured.high}};
}

ordered_json MeasuredOverheadJson(const MeasuredOverhead& measured) {
  ordered_json json = ordered_json::object();
  if (!measured.problem.empty()) json["problem"] = CleanText(measured.problem);
  if (measured.step.rounds > 0) json["step"] = OverheadJson(measured.step);
  if (measured.wall.rounds > 0) json["program"] = OverheadJson(measured.wall);
  return json;
}

}  // namespace

std::string SummaryAsJson(const RunOverview& overview) {
  ordered_json json = {{"session", SessionJson(overview.session)},
                       {"losses", ordered_json::array()},
                       {"stages", ordered_json::array()},
                       {"lives", LivesJson(overview)},
                       {"steps", StepsJson(overview)},
                       {"modules", ModulesJson(overview)},
                       {"operators", OperatorsJson(overview)}};
  if (const ProcessStages* main = overview.stages.Main()) json["stages"] = StageTotalsJson(*main);
  if (const DetailedSteps from = FindDetailedSteps(overview.steps); !from.all()) {
    json["from_steps"] = {{"counted", from.counted},
                          {"recorded", from.recorded},
                          {"of_run", from.of_run},
                          {"without_detail_median_ns", from.plain_ns}};
  }
  if (overview.recording_cost.known()) {
    json["recording"] = RecordingCostJson(overview.recording_cost);
    const std::string levels(overview.store->Property(kOperatorLevelsKey));
    if (!levels.empty())
      json["recording"]["operator_levels"] = std::strtoul(levels.c_str(), nullptr, 10);
  }
  if (overview.roofline.flops_per_step > 0) json["compute"] = ComputeJson(overview.roofline);
  if (overview.measured_overhead.asked) {
    json["measured_overhead"] = MeasuredOverheadJson(overview.measured_overhead);
  }
  if (!overview.gpu.empty()) json["gpu"] = GpuJson(overview);
  if (const auto counters = FindStepFigures(*overview.store); !counters.empty()) {
    json["step_counters"] = CountersJson(counters);
  }
  for (const LossWarning& loss : overview.losses) {
    json["losses"].push_back({{"name", CleanText(loss.name)},
                              {"value", loss.value},
                              {"text", CleanText(loss.text)},
                              {"advice", loss.advice}});
  }
  json["advice"] = ordered_json::array();
  for (const Finding& finding : overview.findings) {
    json["advice"].push_back(
        {{"rule", finding.rule},
         {"title", CleanText(finding.title)},
         {"action", CleanText(finding.action)},
         {"gain_ns", finding.gain_ns},
         {"uncertainty_ns", finding.uncertainty_ns},
         {"run_gain_ns", finding.run_gain_ns},
         {"run_share", finding.run_share},
         {"loop_share", finding.loop_share},
         {"gain", GainText(finding)},
         {"symptom", finding.kind == FindingKind::kSymptom},
         {"same_time_as", finding.same_time_as},
         {"patch", {{"place", CleanText(finding.patch.place)}, {"diff", finding.patch.diff}}}});
  }
  return json.dump(1) + "\n";
}

}  // namespace batchlight
