// Writes a comparison as csv, json and markdown.
#include <cmath>
#include <nlohmann/json.hpp>

#include "report/page/html_page.h"
#include "report/tables/csv.h"
#include "report/terminal/diff_text.h"
#include "report/text/kernel_text.h"
#include "report/text/number_text.h"
#include "report/text/utf8.h"

namespace batchlight {
namespace {

using nlohmann::ordered_json;

Cell Rounded(double ns) { return static_cast<int64_t>(std::llround(ns)); }

ResultTable ChangesTable(const RunDiff& diff) {
  ResultTable table{.name = "diff", .title = "Changes"};
  auto time = [](std::string name) {
    return ResultColumn{.name = std::move(name), .type = CellType::kInteger, .unit = Unit::kTimeNs};
  };
  auto calls = [](std::string name) {
    return ResultColumn{.name = std::move(name), .type = CellType::kReal};
  };
  table.columns = {{.name = "List"}, {.name = "Name"},   {.name = "Change"}, time("A"),
                   time("B"),        time("Difference"), calls("Calls A"),   calls("Calls B")};
  table.rows.push_back(
      {std::string("step"), std::string("step"),
       std::string(diff.IsSure() ? (diff.delta_ns() > 0 ? "slower" : "faster") : "same"),
       Rounded(diff.a.mean_ns), Rounded(diff.b.mean_ns), Rounded(diff.delta_ns()), Cell{}, Cell{}});
  const auto bound = [&](const char* name, double ns) {
    table.rows.push_back({std::string("interval"), std::string(name), std::string(), Cell{}, Cell{},
                          Rounded(ns), Cell{}, Cell{}});
  };
  if (std::isfinite(diff.interval.low) && diff.problem.empty()) {
    bound("95 % low", diff.interval.low);
    bound("95 % high", diff.interval.high);
  }
  for (const ChangeList& list : diff.lists) {
    for (const Change& change : list.changes) {
      table.rows.push_back({list.key, CleanText(change.name),
                            std::string(change.is_rest ? "rest" : ChangeKindName(change.kind())),
                            Rounded(change.a_ns), Rounded(change.b_ns), Rounded(change.delta_ns()),
                            change.a_calls, change.b_calls});
    }
  }
  return table;
}

ordered_json SideJson(const DiffSide& side) {
  return {{"source", CleanText(side.source)},
          {"command", CleanText(side.command)},
          {"steps", side.steps},
          {"mean_ns", side.mean_ns},
          {"median_ns", side.median_ns},
          {"p95_ns", side.p95_ns ? ordered_json(*side.p95_ns) : ordered_json()}};
}

// A cell of a markdown table: without bars and line ends, and as code so that <...> is kept.
std::string CodeCell(const std::string& text) {
  std::string code = "`";
  for (const char c : CleanText(text))
    code += c == '|' ? std::string("\\|") : std::string(1, c == '`' ? '\'' : c);
  return code + "`";
}

void WriteMarkdownList(const ChangeList& list, size_t rows, std::string& out) {
  out += "\n<details><summary>" + list.title +
         "</summary>\n\n| | A | B | change | |\n|---|--:|--:|--:|--:|\n";
  size_t shown = 0;
  Change others{.is_rest = true};
  auto row = [&](const std::string& name, const Change& change) {
    const double delta = change.delta_ns();
    out += "| " + name + " | " + TimeText(change.a_ns) + " | " + TimeText(change.b_ns) + " | " +
           (delta > 0 ? "+" : "") + TimeText(delta) + " | " +
           (change.is_rest ? "" : std::string(ChangeKindName(change.kind()))) + " |\n";
  };
  for (const Change& change : list.changes) {
    if (!change.is_rest && shown++ >= rows) {
      others.a_ns += change.a_ns;
      others.b_ns += change.b_ns;
    } else if (!change.is_rest) {
      row(CodeCell(list.key == "kernels" ? KernelLabel(change.name) : change.name), change);
    }
  }
  if (shown > rows)
    row(CountText(shown - rows) + (shown - rows == 1 ? " other" : " others"), others);
  if (list.changes.back().is_rest) row(list.changes.back().name, list.changes.back());
  row("**" + list.whole + "**", {.a_ns = list.a_ns, .b_ns = list.b_ns, .is_rest = true});
  out += "\n</details>\n";
}

}  // namespace

std::string DiffAsCsv(const RunDiff& diff) { return ToCsv(ChangesTable(diff)); }

std::string DiffAsJson(const RunDiff& diff, const std::vector<GateResult>& gates) {
  ordered_json json = {{"verdict", CleanText(DiffVerdict(diff))},
                       {"a", SideJson(diff.a)},
                       {"b", SideJson(diff.b)},
                       {"difference_ns", diff.delta_ns()},
                       {"relative", diff.relative()},
                       {"sure", diff.problem.empty() && diff.IsSure()}};
  if (std::isfinite(diff.interval.low)) {
    json["interval_ns"] = {diff.interval.low, diff.interval.high};
  }
  if (!diff.problem.empty()) json["problem"] = CleanText(diff.problem);
  for (const Difference& difference : diff.differences) {
    json["not_the_same"].push_back({{"what", difference.what},
                                    {"a", CleanText(difference.a)},
                                    {"b", CleanText(difference.b)}});
  }
  for (const CounterChange& counter : diff.counters) {
    json["counters"].push_back({{"name", CleanText(counter.name)},
                                {"metric", CleanText(counter.metric)},
                                {"unit", counter.unit},
                                {"a", counter.a},
                                {"b", counter.b}});
  }
  for (const ChangeList& list : diff.lists) {
    ordered_json one = {
        {"title", list.title}, {"whole", list.whole}, {"a_ns", list.a_ns}, {"b_ns", list.b_ns}};
    for (const Change& change : list.changes) {
      one["changes"].push_back({{"name", CleanText(change.name)},
                                {"change", change.is_rest ? "rest" : ChangeKindName(change.kind())},
                                {"a_ns", change.a_ns},
                                {"b_ns", change.b_ns},
                                {"a_calls", change.a_calls},
                                {"b_calls", change.b_calls}});
    }
    json["lists"][list.key] = std::move(one);
  }
  for (const GateResult& gate : gates) {
    json["gates"].push_back(
        {{"gate", gate.text}, {"failed", gate.failed}, {"finding", CleanText(gate.finding)}});
  }
  return json.dump(1) + "\n";
}

std::string DiffAsMarkdown(const RunDiff& diff, const std::vector<GateResult>& gates, size_t rows) {
  std::string out = "**batchlight diff**: " + CleanText(DiffVerdict(diff)) + "\n\n";
  out += "| | recording | steps | mean | median | p95 |\n|---|---|--:|--:|--:|--:|\n";
  for (const auto& [name, side] : {std::pair{"A", &diff.a}, std::pair{"B", &diff.b}}) {
    out += "| " + std::string(name) + " | " + CodeCell(side->source) + " | " +
           CountText(side->steps) + " | " + TimeText(side->mean_ns) + " | " +
           TimeText(double(side->median_ns)) + " | " +
           (side->p95_ns ? TimeText(double(*side->p95_ns)) : "–") + " |\n";
  }
  for (const GateResult& gate : gates) {
    out += std::string("\n- ") + (gate.failed ? "**failed**" : "passed") + " " +
           CodeCell(gate.text) + ": " + CleanText(gate.finding);
  }
  if (!gates.empty()) out += "\n";
  if (!diff.differences.empty()) {
    out += "\n| not the same | A | B |\n|---|---|---|\n";
    for (const Difference& difference : diff.differences) {
      out += "| " + difference.what + " | " + CodeCell(difference.a) + " | " +
             CodeCell(difference.b) + " |\n";
    }
  }
  if (!diff.counters.empty()) out += "\n| counter of a step | A | B |\n|---|--:|--:|\n";
  for (const CounterChange& counter : diff.counters) {
    out += "| " + CodeCell(counter.name) + " | " + CounterText(counter.a, counter.unit) + " | " +
           CounterText(counter.b, counter.unit) + " |\n";
  }
  for (const ChangeList& list : diff.lists) WriteMarkdownList(list, rows, out);
  return out;
}

std::string DiffAsHtml(const RunDiff& diff, const std::vector<GateResult>& gates,
                       const std::string& version) {
  const std::string head = ordered_json(version).dump();
  return MakeHtmlPage("Two runs compared - batchlight",
                      "{\"format\":1,\"kind\":\"diff\",\"version\":" + head +
                          ",\"diff\":" + DiffAsJson(diff, gates) + "}");
}

}  // namespace batchlight
