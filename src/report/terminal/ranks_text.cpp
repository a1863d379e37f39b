#include "report/terminal/ranks_text.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "report/terminal/ranks_exchanges.h"
#include "report/terminal/ranks_links.h"
#include "report/terminal/ranks_maps.h"
#include "report/terminal/summary_sections.h"
#include "report/terminal/what_if_text.h"
#include "report/text/number_text.h"
#include "report/text/rank_sentences.h"
#include "report/text/utf8.h"

namespace batchlight {
namespace {

using nlohmann::ordered_json;

// The ranks that cost the others most, then those that wait least.
std::vector<size_t> RanksToShow(const JobResult& job, size_t rows) {
  std::vector<size_t> order(job.ranks.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (order.size() > rows) {
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return job.ranks[a].cost_ns > job.ranks[b].cost_ns;
    });
    order.resize(rows);
  }
  return order;
}

void WriteJobHead(SummaryText& out, const JobResult& job) {
  std::set<std::string> hosts;
  for (const RankTimes& rank : job.ranks) hosts.insert(rank.host);
  out.Put("batchlight", Tone::kTitle).Put("  ");
  out.Put(CountText(job.ranks.size()) + (job.ranks.size() == 1 ? " rank" : " ranks"),
          Tone::kStrong);
  out.Put(" · " + CountText(hosts.size()) + (hosts.size() == 1 ? " host" : " hosts"));
  out.Put(" · " + CountText(job.inputs) + (job.inputs == 1 ? " recording" : " recordings"));
  if (job.step_ns > 0) out.Put(" · step " + TimeText(job.step_ns));
  out.EndLine();
  constexpr size_t kMostNotes = 8;
  for (size_t i = 0; i < std::min(job.notes.size(), kMostNotes); ++i) {
    out.Put("  ! ", Tone::kWarning).Wrapped(CleanText(job.notes[i]), 4);
  }
  if (job.notes.size() > kMostNotes) {
    out.Line("    and " + CountText(job.notes.size() - kMostNotes) + " more", Tone::kDim);
  }
  if (job.losses > 0) {
    out.Put("  ! ", Tone::kWarning)
        .Wrapped(CountText(job.losses) +
                     " events were lost: `batchlight summary` of a recording "
                     "says which",
                 4);
  }
  if (!job.clocks.empty()) out.Put("  ").Wrapped(job.clocks, 2, Tone::kDim);
  if (job.grid) {
    out.Put("  ").Wrapped("grid " + CleanText(job.grid->Text()) +
                              (job.grid_found ? ", found from who talks with whom" : ""),
                          2, Tone::kDim);
  }
}

void WriteWaitedFor(SummaryText& out, const JobResult& job) {
  out.Title("Who is waited for");
  if (job.straggler) {
    out.Put("  ").Wrapped(WaitedForSentence(job), 2, Tone::kStrong);
    for (const std::string& cause : CauseSentences(*job.straggler)) out.Put("  ").Wrapped(cause, 2);
    return;
  }
  out.Put("  ").Wrapped(WaitedForSentence(job), 2);
}

void WriteRankTable(SummaryText& out, const JobResult& job, size_t rows) {
  out.Title("Ranks");
  const std::vector<size_t> shown = RanksToShow(job, rows);
  double largest = 0;
  for (const size_t row : shown) largest = std::max(largest, job.ranks[row].step_ns);
  const TimesInOneUnit times(largest);
  const bool waits = job.knows_waits(), calls = job.knows_calls();
  std::vector<SummaryTable::Column> columns = {{.header = "", .right = false},
                                               {.header = times.Header("step")}};
  if (waits) {
    columns.push_back({.header = "lost waiting"});
    columns.push_back({.header = "costs others"});
  }
  if (calls) columns.push_back({.header = "last"});
  for (size_t phase = 0; phase < job.phases.size(); ++phase) {
    columns.push_back(
        {.header = CleanText(job.phases[phase]), .least_width = static_cast<int>(70 + 10 * phase)});
  }
  SummaryTable table(out, std::move(columns));
  for (const size_t row : shown) {
    const RankTimes& rank = job.ranks[row];
    const bool slow = job.straggler && job.straggler->row == row;
    std::vector<SummaryTable::Cell> cells = {{RankName(rank), slow ? Tone::kLoss : Tone::kPlain},
                                             {times.Text(rank.step_ns)}};
    if (waits) {
      cells.push_back({times.Text(rank.lost_ns)});
      cells.push_back({times.Text(rank.cost_ns)});
    }
    if (calls) cells.push_back({PercentText(rank.last_share)});
    for (const double ns : rank.phase_ns) cells.push_back({times.Text(ns)});
    table.Row(std::move(cells));
  }
  table.Print(shown.size() < job.ranks.size() ? "those that cost the others most" : "rank");
}

constexpr const char* kNotKnown = "–";
ordered_json IfKnown(bool is_known, double value) {
  return is_known ? ordered_json(value) : ordered_json();
}

double BusOf(const CollectiveTotal& total) {
  return BusGbps(total.operation, total.ranks, total.bytes, total.transfer_ns);
}

void WriteAxes(SummaryText& out, const JobResult& job) {
  if (job.axes.empty()) return;
  out.Title("Communication that nothing hides, of a step");
  SummaryTable table(out, {{.header = "", .right = false},
                           {.header = "groups"},
                           {.header = "ranks"},
                           {.header = "exposed"},
                           {.header = "of it waiting"},
                           {.header = "of a step"}});
  for (const AxisTotal& axis : job.axes) {
    table.Row({{CleanText(axis.name)},
               {CountText(axis.groups)},
               {CountText(axis.ranks)},
               {TimeText(axis.exposed_ns)},
               {job.knows_calls() ? TimeText(axis.lost_ns) : kNotKnown},
               {job.step_ns > 0 ? PercentText(axis.exposed_ns / job.step_ns) : ""}});
  }
  table.Print("axis");
}

void WritePipeline(SummaryText& out, const JobResult& job) {
  if (!job.pipeline) return;
  const Pipeline& pipeline = *job.pipeline;
  out.Title("Pipeline");
  std::string text = "Its stages wait for each other for " + PercentText(pipeline.bubble) +
                     " of their steps, with nothing computed meanwhile";
  if (pipeline.micro_batches > 0) {
    text += "; one forward and one backward by turns needs " +
            PercentText(pipeline.least_bubble()) + " with " + CountText(pipeline.micro_batches) +
            " micro-batches";
  }
  out.Put("  ").Wrapped(text + ".", 2, Tone::kStrong);
  SummaryTable table(out, {{.header = "", .right = false},
                           {.header = "ranks"},
                           {.header = "step"},
                           {.header = "waiting for others"}});
  for (const PipelineStage& stage : pipeline.stages) {
    table.Row({{std::to_string(stage.stage)},
               {CountText(stage.ranks)},
               {TimeText(stage.step_ns)},
               {TimeText(stage.exposed_ns)}});
  }
  table.Print("stage");
}

void WriteCollectives(SummaryText& out, const JobResult& job, size_t rows) {
  if (job.collectives.empty()) return;
  out.Title("Collectives");
  SummaryTable table(out, {{.header = "", .right = false},
                           {.header = "group"},
                           {.header = "ranks"},
                           {.header = "calls"},
                           {.header = "transfer"},
                           {.header = "waiting"},
                           {.header = "bus GB/s", .least_width = 70}});
  for (size_t i = 0; i < std::min(rows, job.collectives.size()); ++i) {
    const CollectiveTotal& total = job.collectives[i];
    table.Row({{total.operation + (total.bytes > 0 ? " " + BytesText(double(total.bytes)) : "")},
               {std::to_string(total.communicator)},
               {CountText(total.ranks)},
               {CountText(total.calls)},
               {total.timed ? TimeText(total.transfer_ns) : kNotKnown},
               {total.knows_waits ? TimeText(total.waited_ns) : kNotKnown},
               {total.bytes > 0 && total.timed ? SignificantText(BusOf(total)) : ""}});
  }
  table.Print("operation, message");
}

const char* WaitsByText(WaitsBy by) {
  switch (by) {
    case WaitsBy::kPhases:
      return "phases";
    case WaitsBy::kCollectives:
      return "collectives";
    case WaitsBy::kNothing:
      break;
  }
  return "nothing";
}

ordered_json SeldomLateJson(const JobResult& job) {
  if (!job.seldom_late) return nullptr;
  const SeldomLate& found = *job.seldom_late;
  return {{"rank", job.ranks[found.row].rank},
          {"waited_ns_per_step", found.waited_ns},
          {"of_step", found.of_step},
          {"steps", found.steps},
          {"late_steps", found.late_steps}};
}

ordered_json LongerCallsJson(const std::vector<LongerCall>& calls) {
  ordered_json json = ordered_json::array();
  for (const LongerCall& call : calls) {
    json.push_back(
        {{"name", CleanText(call.name)}, {"ns", call.ns}, {"others_ns", call.others_ns}});
  }
  return json;
}

ordered_json SlowLinksJson(const JobResult& job) {
  ordered_json json = ordered_json::array();
  for (const SlowLink& link : job.slow_links) {
    ordered_json ranks = ordered_json::array();
    for (const uint32_t row : link.members) ranks.push_back(job.ranks[row].rank);
    json.push_back({{"communicator", link.communicator},
                    {"operation", CleanText(link.operation)},
                    {"message_bytes", link.bytes},
                    {"ranks", std::move(ranks)},
                    {"hosts", link.hosts},
                    {"like", link.like},
                    {"transfer_ns", link.transfer_ns},
                    {"others_ns", link.others_ns},
                    {"bus_gbps", link.bus_gbps()},
                    {"others_bus_gbps", link.others_bus_gbps()},
                    {"longer_ns_per_step", link.longer_per_step_ns}});
  }
  return json;
}

ordered_json StragglerJson(const JobResult& job) {
  if (!job.straggler) return nullptr;
  const JobStraggler& found = *job.straggler;
  const RankTimes& rank = job.ranks[found.row];
  ordered_json json = {{"rank", rank.rank},
                       {"pid", rank.pid},
                       {"host", CleanText(rank.host)},
                       {"recording", CleanText(rank.label)},
                       {"waited_ns_per_step", found.waited_ns},
                       {"of_step", found.of_step},
                       {"lost_ns_per_step", found.lost_ns},
                       {"by", found.by_collectives ? "collectives" : "phases"},
                       {"steps", found.steps},
                       {"late_steps", found.late_steps},
                       {"phase", nullptr},
                       {"longer_ns", found.longer_ns},
                       {"kernels", nullptr},
                       {"clock", nullptr},
                       {"collected_ns", found.causes.collected_ns},
                       {"others_collected_ns", found.causes.others_collected_ns},
                       {"operators", LongerCallsJson(found.causes.operators)},
                       {"modules", LongerCallsJson(found.causes.modules)}};
  if (!found.phase.empty()) json["phase"] = CleanText(found.phase);
  if (found.causes.kernels) {
    json["kernels"] = {{"times", found.causes.kernels->times},
                       {"worst", CleanText(found.causes.kernels->worst)},
                       {"worst_times", found.causes.kernels->worst_times}};
  }
  if (const std::optional<LowClock>& clock = found.causes.clock) {
    const auto known = [](double value) { return IfKnown(value >= 0, value); };
    json["clock"] = {{"mhz", known(clock->mhz)},
                     {"others_mhz", known(clock->others_mhz)},
                     {"held_by_power", known(clock->held_by_power)},
                     {"others_held_by_power", known(clock->others_held_by_power)},
                     {"held_by_heat", known(clock->held_by_heat)},
                     {"others_held_by_heat", known(clock->others_held_by_heat)}};
  }
  return json;
}

ordered_json PipelineJson(const JobResult& job) {
  if (!job.pipeline) return nullptr;
  const Pipeline& pipeline = *job.pipeline;
  ordered_json json = {{"bubble", pipeline.bubble},
                       {"micro_batches", pipeline.micro_batches},
                       {"least_bubble", pipeline.least_bubble()},
                       {"stages", ordered_json::array()}};
  for (const PipelineStage& stage : pipeline.stages) {
    json["stages"].push_back({{"stage", stage.stage},
                              {"ranks", stage.ranks},
                              {"step_ns", stage.step_ns},
                              {"exposed_ns", stage.exposed_ns}});
  }
  return json;
}

// Places, axes, stages, and what each rank took for itself by step, in whole ns.
void AddGridJson(const JobResult& job, ordered_json& json) {
  json["grid"] = nullptr;
  if (job.grid) {
    ordered_json axes = ordered_json::array();
    for (const GridAxis& axis : job.grid->axes()) {
      axes.push_back({{"name", CleanText(axis.name)}, {"size", axis.size}});
    }
    json["grid"] = {{"found", job.grid_found}, {"axes", std::move(axes)}};
  }
  json["axes"] = ordered_json::array();
  for (const AxisTotal& axis : job.axes) {
    json["axes"].push_back({{"name", CleanText(axis.name)},
                            {"groups", axis.groups},
                            {"ranks", axis.ranks},
                            {"exposed_ns", axis.exposed_ns},
                            {"lost_ns", IfKnown(job.knows_calls(), axis.lost_ns)}});
  }
  json["pipeline"] = PipelineJson(job);
  json["steps"] = {{"steps_per_column", job.steps.steps_per_column},
                   {"first_step", job.steps.first_step},
                   {"own_ns", ordered_json::array()}};
  for (const std::vector<double>& own : job.steps.own_ns) {
    ordered_json row = ordered_json::array();
    for (const double ns : own) {
      row.push_back(std::isnan(ns) ? ordered_json(nullptr) : ordered_json(int64_t(ns)));
    }
    json["steps"]["own_ns"].push_back(std::move(row));
  }
}

}  // namespace

std::string RanksAsText(const JobResult& job, const TerminalStyle& style, size_t rows) {
  SummaryText out(style);
  WriteJobHead(out, job);
  if (job.ranks.empty()) {
    out.Put("  ").Wrapped("No rank has steps: there is nothing to compare.", 2);
    return out.text();
  }
  WriteWaitedFor(out, job);
  WriteRankTable(out, job, rows);
  WriteRankMaps(out, job);
  WriteWhatIf(out, job, rows);
  WriteAxes(out, job);
  WritePipeline(out, job);
  WriteExchanges(out, job);
  WriteSlowLinks(out, job, rows);
  WriteCollectives(out, job, rows);
  return out.text();
}

std::string RanksAsJson(const JobResult& job) {
  ordered_json json = {{"recordings", job.inputs},
                       {"world_size", job.world_size},
                       {"notes", ordered_json::array()},
                       {"clocks", job.clocks},
                       {"events_lost", job.losses},
                       {"step_ns", job.step_ns},
                       {"waits_by", WaitsByText(job.waits_by)},
                       {"straggler", StragglerJson(job)},
                       {"seldom_late", SeldomLateJson(job)},
                       {"what_if", job.what_if ? WhatIfJson(*job.what_if) : ordered_json(nullptr)},
                       {"ranks", ordered_json::array()},
                       {"collectives", ordered_json::array()}};
  for (const std::string& note : job.notes) json["notes"].push_back(CleanText(note));
  for (const RankTimes& rank : job.ranks) {
    ordered_json phases = ordered_json::object();
    for (size_t i = 0; i < job.phases.size(); ++i) {
      phases[CleanText(job.phases[i])] = rank.phase_ns[i];
    }
    json["ranks"].push_back({{"rank", rank.rank},
                             {"pid", rank.pid},
                             {"host", CleanText(rank.host)},
                             {"recording", CleanText(rank.label)},
                             {"steps", rank.steps},
                             {"step_ns", rank.step_ns},
                             {"waited_ns", IfKnown(job.knows_waits(), rank.waited_ns)},
                             {"lost_ns", IfKnown(job.knows_waits(), rank.lost_ns)},
                             {"cost_ns", IfKnown(job.knows_waits(), rank.cost_ns)},
                             {"last_share", IfKnown(job.knows_calls(), rank.last_share)},
                             {"phases_ns", std::move(phases)}});
  }
  AddGridJson(job, json);
  json["exchanges"] = ordered_json::array();
  for (const ExchangeTotal& total : job.exchanges) {
    json["exchanges"].push_back({{"communicator", total.communicator},
                                 {"ranks", total.ranks},
                                 {"calls", total.calls},
                                 {"mean_bytes", total.mean_bytes},
                                 {"imbalance", total.imbalance},
                                 {"busiest_rank", job.ranks[total.busiest].rank},
                                 {"busiest_times", total.busiest_times}});
  }
  json["slow_links"] = SlowLinksJson(job);
  for (const CollectiveTotal& total : job.collectives) {
    json["collectives"].push_back({{"operation", CleanText(total.operation)},
                                   {"communicator", total.communicator},
                                   {"ranks", total.ranks},
                                   {"message_bytes", total.bytes},
                                   {"calls", total.calls},
                                   {"transfer_ns", IfKnown(total.timed, total.transfer_ns)},
                                   {"waited_ns", IfKnown(total.knows_waits, total.waited_ns)},
                                   {"bus_gbps", IfKnown(total.timed, BusOf(total))}});
  }
  return json.dump(2) + "\n";
}

}  // namespace batchlight
