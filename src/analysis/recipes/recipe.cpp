#include "analysis/recipes/recipe.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "analysis/recipes/event_groups.h"
#include "analysis/recipes/rank_stats.h"
#include "analysis/recipes/recipe_part.h"
#include "analysis/recipes/utilization_map.h"
#include "analysis/stats/duration_summary.h"
#include "analysis/stats/expert_rule.h"
#include "analysis/stats/report_arguments.h"
#include "base/nearest.h"
#include "base/split.h"

namespace batchlight::recipes {
namespace {

constexpr int64_t kBins = 100;
constexpr std::string_view kBinsUsage = "[:bins=<bins>]";

struct Recipe {
  std::string_view name;
  std::string_view title;
  std::string_view usage;
  GroupEvents groups = nullptr;  // of a summary
  Measure measure = {};
  FindActivity activity = nullptr;          // of a map
  const stats::Report* report = nullptr;    // of these
  const stats::ExpertRule* rule = nullptr;  // one
};

Recipe OfReport(std::string_view name) {
  const stats::Report* const report = stats::FindReport(name);
  return {.name = name, .title = report->title, .usage = report->usage, .report = report};
}

Recipe OfRule(std::string_view name) {
  const stats::ExpertRule* const rule = stats::FindExpertRule(name);
  return {.name = name, .title = rule->title, .usage = rule->usage, .rule = rule};
}

const std::vector<Recipe>& Recipes() {
  static const std::vector<Recipe> kRecipes = {
#define SUMMARY(name, title, groups, count, unit, usage) \
  {name, title, usage, groups, {count, Unit::unit}},
#define REPORT(name) OfReport(name),
#define RULE(name) OfRule(name),
#define MAP(name, title, activity) {name, title, kBinsUsage, nullptr, {}, activity},
#define ELSEWHERE(name, why)
#include "analysis/recipes/recipes.def"
#undef SUMMARY
#undef REPORT
#undef RULE
#undef MAP
#undef ELSEWHERE
  };
  return kRecipes;
}

const Recipe& RecipeOf(const RecipeCall& call) {
  return *std::find_if(Recipes().begin(), Recipes().end(),
                       [&](const Recipe& recipe) { return recipe.name == call.name; });
}

std::string_view MissingFor(const Recipe& recipe, const Store& store) {
  if (recipe.report != nullptr) return recipe.report->missing(store);
  if (recipe.rule != nullptr) return recipe.rule->missing(store);
  return {};
}

ResultTable TableOf(RowSource source) {
  ResultTable table;
  table.columns = std::move(source.columns);
  table.rows.resize(source.row_count);
  for (size_t row = 0; row < source.row_count; ++row) {
    table.rows[row].resize(table.columns.size());
    source.fill(row, table.rows[row]);
  }
  return table;
}

// Rows of other processes: not all reports leave them out themselves.
void KeepProcesses(const stats::Query& query, ResultTable& table) {
  if (query.processes.empty()) return;
  const auto column = std::find_if(table.columns.begin(), table.columns.end(),
                                   [](const ResultColumn& at) { return at.name == "PID"; });
  if (column == table.columns.end()) return;
  const auto at = static_cast<size_t>(column - table.columns.begin());
  const auto& pids = query.store.processes.pid;
  std::erase_if(table.rows, [&](const std::vector<Cell>& row) {
    const auto* const pid = std::get_if<int64_t>(&row[at]);
    for (size_t process = 0; pid != nullptr && process < query.processes.size(); ++process) {
      if (query.processes[process] && pids[process] == *pid) return false;
    }
    return true;
  });
}

Result<ResultTable> RunRule(const Recipe& recipe, const stats::Query& query) {
  if (query.processes.empty()) {
    ASSIGN_OR_RETURN(stats::RuleResult result, stats::RunRule(*recipe.rule, query));
    return TableOf(std::move(result.rows));
  }
  ResultTable all;  // of the processes of the rank
  for (size_t process = 0; process < query.processes.size(); ++process) {
    if (!query.processes[process]) continue;
    stats::Query one = query;
    one.args.push_back("process=" + std::to_string(query.store.processes.pid[process]));
    ASSIGN_OR_RETURN(stats::RuleResult result, stats::RunRule(*recipe.rule, one));
    ResultTable table = TableOf(std::move(result.rows));
    all.columns = std::move(table.columns);
    std::move(table.rows.begin(), table.rows.end(), std::back_inserter(all.rows));
  }
  return all;
}

Result<ResultTable> RunOf(const Recipe& recipe, const stats::Query& query) {
  if (recipe.groups != nullptr) return StatsOfRank(recipe.measure, recipe.groups(query));
  if (recipe.rule != nullptr) return RunRule(recipe, query);
  if (recipe.activity != nullptr) {
    const int64_t bins = stats::ArgumentInteger(query.args, "bins", kBins);
    return UtilizationMap(recipe.activity(query), static_cast<size_t>(std::max<int64_t>(1, bins)));
  }
  ASSIGN_OR_RETURN(RowSource rows, stats::RunReport(*recipe.report, query));
  ResultTable table = TableOf(std::move(rows));
  KeepProcesses(query, table);
  return table;
}

// The tables of the ranks one below the other, with the rank in front.
ResultTable Stacked(const std::vector<const ResultTable*>& tables,
                    const std::vector<int64_t>& ranks) {
  ResultTable all;
  all.columns = tables[0]->columns;
  all.columns.insert(all.columns.begin(), stats::Keyed("rank", stats::IntegerColumn("Rank")));
  for (size_t i = 0; i < tables.size(); ++i) {
    if (tables[i]->columns.size() + 1 != all.columns.size()) continue;
    for (const auto& row : tables[i]->rows) {
      std::vector<Cell>& cells = all.rows.emplace_back();
      cells.push_back(ranks[i] < 0 ? Cell() : Cell(ranks[i]));
      cells.insert(cells.end(), row.begin(), row.end());
    }
  }
  return all;
}

ResultTable Named(const char* name, const Recipe& recipe, ResultTable table) {
  table.name = name;
  table.title = recipe.title;
  return table;
}

ResultTable FilesTable(const std::vector<std::pair<int64_t, std::string>>& files) {
  ResultTable table;
  table.columns = {stats::IntegerColumn("Rank"), stats::TextColumn("File")};
  for (const auto& [rank, file] : files) {
    table.rows.push_back(CellRow(rank < 0 ? Cell() : Cell(rank), file));
  }
  return table;
}

bool FitsRecipe(const Recipe& recipe, const RecipePart& part) {
  return recipe.groups == nullptr ||
         std::all_of(part.ranks.begin(), part.ranks.end(),
                     [](const PartOfRank& rank) { return IsStatsTable(rank.table); });
}

}  // namespace

std::span<const RecipeName> RecipeNames() {
  static const std::vector<RecipeName> kNames = [] {
    std::vector<RecipeName> names;
    for (const Recipe& recipe : Recipes())
      names.push_back({recipe.name, recipe.title, recipe.usage});
#define SUMMARY(name, title, groups, count, unit, usage)
#define REPORT(name)
#define RULE(name)
#define MAP(name, title, activity)
#define ELSEWHERE(name, why) names.push_back({name, why, {}, false});
#include "analysis/recipes/recipes.def"
#undef SUMMARY
#undef REPORT
#undef RULE
#undef MAP
#undef ELSEWHERE
    std::sort(names.begin(), names.end(),
              [](const RecipeName& a, const RecipeName& b) { return a.name < b.name; });
    return names;
  }();
  return kNames;
}

Result<RecipeCall> ParseRecipe(const std::string& text) {
  const std::vector<std::string_view> words = SplitAt(text, ':');
  RecipeCall call{.name = std::string(words[0]), .args = {words.begin() + 1, words.end()}};
  std::vector<std::string_view> known;
  for (const RecipeName& recipe : RecipeNames()) {
    known.push_back(recipe.name);
    if (recipe.name != call.name) continue;
    if (!recipe.here) {
      return UsageError("recipe " + call.name + " is not here: " + std::string(recipe.title));
    }
    const stats::ExpertRule* const rule = stats::FindExpertRule(call.name);
    RETURN_IF_ERROR(rule != nullptr
                        ? stats::CheckRuleArguments(*rule, call.args)
                        : stats::CheckArguments("recipe " + call.name, recipe.usage, call.args));
    return call;
  }
  return UsageError("no recipe \"" + call.name + "\"" + DidYouMean(NearestFew(call.name, known)) +
                    "; `batchlight recipe --list` has them all");
}

std::string TextOf(const RecipeCall& call) {
  std::string text = call.name;
  for (const std::string& arg : call.args) text += ':' + arg;
  return text;
}

Result<std::string> MapRecipe(const RecipeCall& call, const std::string& label,
                              const Store& store) {
  const Recipe& recipe = RecipeOf(call);
  RecipePart part{.label = label, .missing = std::string(MissingFor(recipe, store)), .ranks = {}};
  if (!part.missing.empty()) return EncodePart(part);
  for (stats::RankPart& rank : stats::RankPartsOf(label, store)) {
    const stats::Query query{store, {}, call.args, false, std::move(rank.processes)};
    ASSIGN_OR_RETURN(ResultTable table, RunOf(recipe, query));
    part.ranks.push_back({.claim = std::move(rank.claim), .table = std::move(table)});
  }
  return EncodePart(part);
}

Result<RecipeResult> ReduceRecipe(const RecipeCall& call, const std::vector<std::string>& parts) {
  const Recipe& recipe = RecipeOf(call);
  RecipeResult result;
  std::vector<RecipePart> read;
  std::vector<stats::RankClaim> claims;
  for (const std::string& bytes : parts) {
    std::optional<RecipePart> part = DecodePart(bytes);
    if (!part || !FitsRecipe(recipe, *part)) {
      return InputError("what was made of an input for the recipe is damaged");
    }
    if (!part->missing.empty()) {
      result.notes.push_back(part->label + " does not contain " + part->missing);
    }
    for (const PartOfRank& rank : part->ranks) claims.push_back(rank.claim);
    read.push_back(std::move(*part));
  }
  std::vector<std::string> notes = stats::NumberRanks(claims);
  std::move(notes.begin(), notes.end(), std::back_inserter(result.notes));
  std::vector<std::pair<int64_t, std::string>> files;
  std::vector<std::pair<int64_t, const ResultTable*>> by_rank;
  size_t next = 0;
  for (const RecipePart& part : read) {
    for (const PartOfRank& rank : part.ranks) {
      const int64_t number = claims[next++].rank;
      files.emplace_back(number, part.label);
      if (!rank.table.columns.empty()) by_rank.emplace_back(number, &rank.table);
    }
  }
  if (by_rank.empty()) {
    return InputError("nothing for recipe " + call.name +
                      (result.notes.empty() ? "" : ": " + result.notes[0]));
  }
  std::stable_sort(files.begin(), files.end());
  std::stable_sort(by_rank.begin(), by_rank.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<const ResultTable*> tables;
  std::vector<int64_t> ranks;
  for (const auto& [rank, table] : by_rank) {
    ranks.push_back(rank);
    tables.push_back(table);
  }
  result.tables.push_back(Named("files", recipe, FilesTable(files)));
  const bool summary = recipe.groups != nullptr;
  result.tables.push_back(
      Named(summary ? "rank_stats" : "analysis", recipe, Stacked(tables, ranks)));
  if (summary) {
    result.tables.push_back(Named("all_stats", recipe, StatsOverRanks(tables, ranks)));
  }
  return result;
}

}  // namespace batchlight::recipes
