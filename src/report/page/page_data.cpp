#include "report/page/page_data.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>

#include "analysis/advice/advice_text.h"
#include "analysis/run/program_processes.h"
#include "analysis/steps/step_bins.h"
#include "report/page/page_columns.h"
#include "report/page/page_events.h"
#include "report/page/page_gpu.h"
#include "report/page/page_rank_maps.h"
#include "report/page/page_ranks.h"
#include "report/page/page_stages.h"
#include "report/page/page_steps.h"
#include "report/page/page_strings.h"
#include "report/page/page_tree.h"
#include "report/page/row_events.h"
#include "report/text/event_of.h"
#include "report/text/kernel_text.h"
#include "report/text/recording_text.h"
#include "report/text/run_text.h"
#include "report/text/usage_text.h"
#include "report/text/utf8.h"

namespace batchlight {
namespace {

using nlohmann::json;

std::string UtcText(int64_t unix_ns) {
  const std::time_t seconds = unix_ns / 1'000'000'000;
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  char text[40];
  const size_t length = std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &utc);
  return std::string(text, length);
}

json Facts(const RunOverview& overview, size_t longest) {
  const SessionInfo& session = overview.session;
  json facts = json::array();
  const auto add = [&](const std::string& label, const std::string& value) {
    if (value.empty()) return;
    facts.push_back(
        {{"label", CleanText(label)}, {"value", ElideMiddle(CleanText(value), longest)}});
  };
  add("Command", session.command);
  add("Folder", session.working_directory);
  if (session.start_utc_ns > 0) add("Started", UtcText(session.start_utc_ns));
  for (const auto& [label, value] : session.machine) add(label, value);
  add("Use", UsageText(*overview.store));
  add("Overload", OverloadText(*overview.store));
  for (const auto& [label, value] : session.software) add(label, value);
  add("Recording", session.source);
  return facts;
}

// " Recording adds 2.40 ms to a step (...). Operators, ..."
std::string RecordingSentences(const RunOverview& overview) {
  std::string sentences;
  for (std::string text :
       {RecordingCostText(overview), DetailedStepsText(overview), OperatorLevelsText(overview)}) {
    if (text.empty()) continue;
    text[0] = static_cast<char>(text[0] - 'a' + 'A');
    sentences += " " + text + ".";
  }
  return sentences;
}

json Losses(const std::vector<LossWarning>& losses) {
  json out = json::array();
  for (const LossWarning& loss : losses) {
    out.push_back({{"severity", SeverityName(loss.severity)},
                   {"text", CleanText(loss.text)},
                   {"advice", CleanText(loss.advice)}});
  }
  return out;
}

// Where the page's timeline shows it.
json PlaceOf(const Evidence& item) {
  if (item.step >= 0) return {{"step", item.step}};
  if (item.longest.duration_ns() > 0) {
    return {{"from", item.longest.start_ns}, {"to", item.longest.end_ns}};
  }
  const std::string event = EventOf(item);
  if (event.empty()) return nullptr;
  json place = {{"find", event}};
  if (const std::string_view table = TableOf(item); !table.empty()) place["table"] = table;
  return place;
}

json Advice(const Store& store, const std::vector<Finding>& findings, size_t longest) {
  json out = json::array();
  for (const Finding& finding : findings) {
    json evidence = json::array();
    for (const Evidence& item : finding.evidence) {
      evidence.push_back({{"kind", item.kind},
                          {"name", ElideMiddle(CleanText(item.name), longest)},
                          {"place", PlaceOf(item)},
                          {"count", item.count},
                          {"per_step_ns", std::llround(item.per_step_ns)}});
    }
    const Evidence* shown = ToBeSeen(store, finding);
    out.push_back({{"rule", finding.rule},
                   {"shown", shown == nullptr ? -1 : shown - finding.evidence.data()},
                   {"title", CleanText(finding.title)},
                   {"seen", CleanText(finding.seen)},
                   {"why", CleanText(finding.why)},
                   {"action", CleanText(finding.action)},
                   {"gain_ns", std::llround(finding.gain_ns)},
                   {"uncertainty_ns", std::llround(finding.uncertainty_ns)},
                   {"gain", GainText(finding)},
                   {"short_gain", ShortGainText(finding)},
                   {"symptom", finding.kind == FindingKind::kSymptom},
                   {"place", CleanText(finding.patch.place)},
                   {"diff", finding.patch.diff},
                   {"same_time_as", finding.same_time_as},
                   {"evidence", std::move(evidence)}});
  }
  return out;
}

json Tops(const std::vector<TopList>& tops, size_t longest) {
  json out = json::array();
  for (const TopList& list : tops) {
    json rows = json::array();
    for (const TopRow& row : list.rows) {
      rows.push_back({{"name", ElideMiddle(CleanText(row.name), longest)},
                      {"label", ElideMiddle(CleanText(row.label), longest)},
                      {"detail", ElideMiddle(CleanText(row.detail), longest)},
                      {"calls", row.calls},
                      {"value_ns", std::llround(row.value_ns)},
                      {"share", row.share}});
    }
    out.push_back({{"key", list.key},
                   {"title", list.title},
                   {"measure", list.measure},
                   {"share_of", list.share_of},
                   {"whose", list.whose},
                   {"per_step", list.per_step},
                   {"rows", std::move(rows)}});
  }
  return out;
}

json Processes(const SessionInfo& session, const ProgramProcesses& program, size_t most_rows,
               size_t longest) {
  json out = json::array();
  for (const ProcessInfo& process : session.processes) {
    if (out.size() == most_rows) break;
    const bool failed = program.failed[out.size()];
    const bool known = process.end_ns != kOpenEnd;
    out.push_back({{"name", CleanText(process.name)},
                   {"pid", process.pid},
                   {"rank", process.rank},
                   {"parent", process.parent},
                   {"command", ElideMiddle(CleanText(process.command_line), longest)},
                   {"start_ns", process.start_ns},
                   {"end_ns", known ? json(process.end_ns) : json(nullptr)},
                   {"exit", EndIsKnown(process) ? process.ExitText() : ""},
                   {"failed", failed},
                   {"succeeded", process.exit_code == 0 && process.exit_signal <= 0},
                   {"threads", process.threads},
                   {"events", process.events}});
  }
  return out;
}

json CellValue(const Cell& cell, const ResultColumn& column, PageStrings& strings) {
  if (const auto* text = std::get_if<std::string>(&cell)) return strings.Add(*text);
  if (const auto* integer = std::get_if<int64_t>(&cell)) return *integer;
  const auto* real = std::get_if<double>(&cell);
  if (real == nullptr || !std::isfinite(*real)) return nullptr;
  // Nobody needs fractions of a nanosecond or a byte, and they would take up most of the page.
  const bool scaled = column.unit == Unit::kTimeNs || column.unit == Unit::kTimestampNs ||
                      column.unit == Unit::kBytes;
  if (scaled) return std::llround(*real);
  const double power = std::pow(10, column.decimals + 2);
  const double rounded = std::round(*real * power) / power;
  const bool is_whole = std::abs(rounded) < 1e15 && rounded == std::floor(rounded);
  return is_whole ? json(std::llround(rounded)) : json(rounded);
}

json Table(const RunOverview& overview, const PageTable& page_table, size_t most_rows,
           PageStrings& strings) {
  const ResultTable& table = page_table.table;
  json columns = json::array();
  json cells = json::array();
  const size_t rows = std::min(most_rows, table.rows.size());
  for (size_t i = 0; i < table.columns.size(); ++i) {
    const ResultColumn& column = table.columns[i];
    columns.push_back(PageColumn(column));
    json values = json::array();
    for (size_t row = 0; row < rows; ++row) {
      values.push_back(CellValue(table.rows[row][i], column, strings));
    }
    cells.push_back(std::move(values));
  }
  json out = {{"key", table.name},
              {"title", table.title},
              {"csv", page_table.csv},
              {"total_rows", table.rows.size()},
              {"columns", std::move(columns)},
              {"cells", std::move(cells)}};
  json events = RowEvents(overview, table, rows, strings);
  if (!events.is_null()) out["events"] = std::move(events);
  json parts = PageTableParts(overview, table.name);
  if (!parts.is_null()) out["parts"] = std::move(parts);
  return out;
}

// Row of `strings` -> how to show it, for names that are hard to tell apart at a glance.
json Labels(const RunOverview& overview, const PageStrings& strings) {
  json labels = json::object();
  for (const KernelRow& row : overview.gpu.kernels) {
    const std::string name(overview.store->Text(row.name));
    const std::optional<size_t> at = strings.Find(name);
    std::string label = CleanText(KernelLabel(name));
    if (at && label != name) labels[std::to_string(*at)] = std::move(label);
  }
  return labels;
}

}  // namespace

std::string MakePageJson(const PageInput& input, const PageLimits& limits) {
  const RunOverview& overview = *input.overview;
  const SessionInfo& session = overview.session;
  PageStrings strings(limits.text);
  json page = {{"format", 1}, {"version", input.version}};
  page["title"] = ElideMiddle(RunTitle(session), limits.text);
  page["command"] = ElideMiddle(CleanText(session.command), limits.text);
  page["facts"] = Facts(overview, limits.text);
  page["duration_ns"] = session.duration_ns;
  page["events"] = session.events;
  page["losses"] = Losses(overview.losses);
  page["lives"] = PageLives(overview);
  page["steps_found"] =
      CleanText(StepsFoundSentence(overview.steps) + RecordingSentences(overview));
  page["step_kinds"] = PageStepKinds();
  page["outlier_rule"] = PageOutlierRule();
  page["training"] =
      PageTraining(overview, *input.phase_events, limits.steps, limits.events, strings);
  page["event_kinds"] = PageEventKinds();
  page["bin_starts"] = BinStarts(overview.tree.bins);
  page["advice"] = Advice(*overview.store, *input.advice, limits.text);
  page["advice_together"] = CombinedText(*input.advice);
  page["gpu"] = PageGpu(overview, *input.utilization, *input.memory);
  page["distributed"] = PageDistributed(overview, input.job);
  page["rank_maps"] = input.job != nullptr ? PageRankMaps(*input.job) : json(nullptr);
  page["from_steps"] = FromSteps(overview);
  page["tops"] = Tops(*input.tops, limits.text);
  page["tree"] = PageTree(overview, limits.nodes, strings);
  const ProgramProcesses program = FindProgramProcesses(session, overview.steps);
  page["process_count"] = program.count;
  page["process_rows"] = session.processes.size();
  page["processes"] = Processes(session, program, limits.rows, limits.text);
  page["main_process"] = program.main == ProgramProcesses::kNone ? -1 : int64_t(program.main);
  page["tables"] = json::array();
  for (const PageTable& table : *input.tables) {
    page["tables"].push_back(Table(overview, table, limits.rows, strings));
  }
  page["labels"] = Labels(overview, strings);
  page["strings"] = std::move(strings.texts());
  return page.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string MakePageJsonWithin(const PageInput& input, size_t most_bytes) {
  PageLimits limits;
  for (;;) {
    std::string text = MakePageJson(input, limits);
    if (text.size() <= most_bytes || limits.rows <= 1) return text;
    limits.rows /= 2;
    limits.nodes /= 2;
    limits.events /= 2;
    limits.steps = std::max<size_t>(1000, limits.steps / 2);
    limits.text = std::max<size_t>(100, limits.text / 2);
  }
}

}  // namespace batchlight
