#include <nlohmann/json.hpp>

#include "report/summary.h"
#include "report/utf8.h"

namespace batchlight {
namespace {

using nlohmann::ordered_json;

ordered_json SampleJson(const Sample& sample) {
  return {{"count", sample.count},
          {"total_ns", sample.total},
          {"mean_ns", sample.mean},
          {"min_ns", sample.min},
          {"p5_ns", sample.p5},
          {"median_ns", sample.median},
          {"p95_ns", sample.p95},
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
  if (!overview.steps.problem.empty()) json["problem"] = CleanText(overview.steps.problem);
  for (size_t p = 0; p < overview.steps.processes.size(); ++p) {
    const ProcessSteps& process = overview.steps.processes[p];
    ordered_json one = {{"pid", overview.store->processes.pid[process.process.row()]},
                        {"rank", process.rank},
                        {"source", StepSourceName(process.source)},
                        {"marker", CleanText(process.marker)},
                        {"steps", process.steps.size()},
                        {"duration", SampleJson(process.duration)},
                        {"between_ns", process.between_ns},
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
                    {"share_of_step", row.share_of_step}});
  }
  return json;
}

}  // namespace

std::string SummaryAsJson(const RunOverview& overview) {
  ordered_json json = {{"session", SessionJson(overview.session)},
                       {"losses", ordered_json::array()},
                       {"steps", StepsJson(overview)},
                       {"modules", ModulesJson(overview)},
                       {"operators", OperatorsJson(overview)}};
  for (const LossWarning& loss : overview.losses) {
    json["losses"].push_back({{"name", CleanText(loss.name)},
                              {"value", loss.value},
                              {"text", CleanText(loss.text)},
                              {"advice", loss.advice}});
  }
  return json.dump(1) + "\n";
}

}  // namespace batchlight
