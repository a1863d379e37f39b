#include "cli/reading/known_values.h"

#include "analysis/advice/advice.h"
#include "analysis/dlprof/reports.h"
#include "analysis/recipes/recipe.h"
#include "analysis/stats/expert_rule.h"
#include "analysis/stats/stats_report.h"
#include "analysis/tables/registry.h"
#include "cli/flags/trace_options.h"
#include "cli/reading/known_sessions.h"
#include "export/exporter.h"
#include "report/tables/table_format.h"

namespace batchlight::cli {
namespace {

using Candidates = std::vector<Candidate>;

Candidate Word(std::string_view word, std::string_view what = "") {
  return {std::string(word), std::string(what)};
}

Candidates Tables(const CommandReference&) {
  Candidates words;
  for (const TableEntry& table : OverviewTables())
    words.push_back(Word(table.name, table.sentence));
  return words;
}

Candidates Types(const CommandReference&) {
  Candidates words;
  for (const Exporter& exporter : Exporters()) words.push_back(Word(exporter.name, exporter.help));
  return words;
}

Candidates StatsReports(const CommandReference&) {
  Candidates words;
  for (const stats::Report& report : stats::Reports()) {
    words.push_back(Word(report.name, report.title));
  }
  return words;
}

Candidates Rules(const CommandReference&) {
  Candidates words = {Word("advice", "All findings about the training loop"),
                      Word("all", "Those of Nsight Systems too")};
  for (const AdviceRule& rule : AdviceRules()) words.push_back(Word(rule.id, rule.sentence));
  for (const stats::ExpertRule& rule : stats::ExpertRules()) {
    words.push_back(Word(rule.name, rule.title));
  }
  return words;
}

Candidates Recipes(const CommandReference&) {
  Candidates words;
  for (const recipes::RecipeName& recipe : recipes::RecipeNames()) {
    if (recipe.here) words.push_back(Word(recipe.name, recipe.title));
  }
  return words;
}

Candidates Formats(const CommandReference&) {
  Candidates words;
  for (const std::string_view name : TableFormatNames()) words.push_back(Word(name));
  return words;
}

Candidates Units(const CommandReference&) {
  return {Word("nsec"), Word("usec"), Word("msec"), Word("sec")};
}

Candidates Sessions(const CommandReference&) {
  Candidates words;
  for (const std::string& name : KnownSessions()) words.push_back(Word(name));
  return words;
}

Candidates Traces(const CommandReference&) {
  Candidates words;
  for (const std::string_view name : TraceNames()) words.push_back(Word(name));
  return words;
}

Candidates DlprofReports(const CommandReference&) {
  Candidates words = {Word("all"), Word("expert_systems")};
  for (const dlprof::ReportEntry& report : dlprof::Reports()) words.push_back(Word(report.option));
  return words;
}

Candidates Commands(const CommandReference& all) {
  Candidates words;
  for (const CommandReference& command : all.commands) {
    words.push_back(Word(command.verb(), command.sentence));
  }
  return words;
}

Candidates Granularities(const CommandReference&) { return {Word("graph"), Word("node")}; }

}  // namespace

std::vector<Candidate> KnownWords(const CommandReference& all, std::string_view value_name) {
  struct Source {
    std::string_view value_name;
    Candidates (*words)(const CommandReference&);
  };
  constexpr Source kSources[] = {{"TABLE", Tables},
                                 {"TYPE", Types},
                                 {"REPORT", StatsReports},
                                 {"RULE", Rules},
                                 {"RECIPE", Recipes},
                                 {"FORMAT", Formats},
                                 {"UNIT", Units},
                                 {"SESSION", Sessions},
                                 {"TRACE", Traces},
                                 {"COMMAND", Commands},
                                 {"DLPROF-REPORT", DlprofReports},
                                 {"GRANULARITY", Granularities}};
  for (const Source& source : kSources) {
    if (source.value_name == value_name) return source.words(all);
  }
  return {};
}

}  // namespace batchlight::cli
