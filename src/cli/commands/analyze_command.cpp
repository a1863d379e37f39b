// batchlight analyze: the rules of nsys with their options and columns, and what a training run
// should change, each finding with numbers, reason, action and estimated gain.
#include <algorithm>
#include <cstdio>
#include <memory>

#include "analysis/advice/advice.h"
#include "analysis/stats/expert_rule.h"
#include "analysis/tables/overview_tables.h"
#include "base/nearest.h"
#include "cli/flags/command.h"
#include "cli/flags/run_argument.h"
#include "cli/flags/step_flags.h"
#include "cli/reading/event_filter.h"
#include "cli/reading/job_input.h"
#include "cli/reading/nsys_flags.h"
#include "cli/reading/reading_notes.h"
#include "cli/reading/table_outputs.h"
#include "ingest/open_input.h"
#include "report/terminal/findings_text.h"
#include "report/text/run_text.h"

namespace batchlight::cli {
namespace {

constexpr std::string_view kAdvice = "advice";
constexpr std::string_view kDx12 = "dx12_mem_ops";

struct AnalyzeFlags : NsysFlags {
  std::vector<std::string> inputs;
  JobUse use;
  std::vector<std::string> rules;
  std::string help_rules;
  std::vector<std::string> fail_on;
  StepOptions steps;
};

// One of: a rule of nsys; "advice" for all findings, or the id of one kind.
struct ChosenRule {
  const stats::ExpertRule* rule = nullptr;
  std::string advice;
  std::vector<std::string> args;
};

bool IsAdvice(std::string_view id) {
  const std::vector<AdviceRule>& rules = AdviceRules();
  return id == kAdvice ||
         std::any_of(rules.begin(), rules.end(), [&](const auto& rule) { return rule.id == id; });
}

Status UnknownRule(const std::string& name) {
  std::vector<std::string_view> names = {kAdvice};
  for (const stats::ExpertRule& rule : stats::ExpertRules()) names.push_back(rule.name);
  for (const AdviceRule& rule : AdviceRules()) names.push_back(rule.id);
  const std::string near = DidYouMean(NearestFew(name, names));
  return UsageError("no rule \"" + name + "\"" + near + (near.empty() ? "; " : " ") +
                    "--help-rules lists them all");
}

// Without `lists` all findings; with `nsys_compat` all rules, as in nsys.
Result<std::vector<ChosenRule>> ChooseRules(const std::vector<std::string>& lists,
                                            bool nsys_compat) {
  std::vector<ChosenRule> chosen;
  const auto add_all = [&] {
    chosen.push_back({nullptr, std::string(kAdvice), {}});
    for (const stats::ExpertRule& rule : stats::ExpertRules()) chosen.push_back({&rule, "", {}});
  };
  ASSIGN_OR_RETURN(std::vector<ReportSpec> specs, ParseReportList(lists));
  for (ReportSpec& spec : specs) {
    const stats::ExpertRule* rule = stats::FindExpertRule(spec.name);
    if (spec.name == "all") {
      add_all();
    } else if (rule != nullptr || spec.name == kDx12) {
      if (rule != nullptr) RETURN_IF_ERROR(stats::CheckRuleArguments(*rule, spec.args));
      chosen.push_back({rule, rule == nullptr ? spec.name : "", std::move(spec.args)});
    } else if (!IsAdvice(spec.name)) {
      return UnknownRule(spec.name);
    } else if (!spec.args.empty()) {
      return UsageError("rule " + spec.name + " takes no options");
    } else {
      chosen.push_back({nullptr, spec.name, {}});
    }
  }
  if (chosen.empty() && nsys_compat) add_all();
  if (chosen.empty()) chosen.push_back({nullptr, std::string(kAdvice), {}});
  return chosen;
}

std::string Heading(std::string_view title, std::string_view name) {
  return "\n ** " + std::string(title) + " (" + std::string(name) + "):\n\n";
}

class Analysis {
 public:
  Analysis(const Store& store, TableOutputs& outputs, const StepOptions& steps, EventFilter filter,
           bool nsys_compat)
      : store_(store),
        outputs_(outputs),
        steps_(steps),
        filter_(std::move(filter)),
        compat_(nsys_compat) {}

  Status Run(const std::vector<ChosenRule>& rules, const AnalyzeFlags& flags) {
    if (StepsAreChosen(steps_)) {
      RETURN_IF_ERROR(CheckStepsAreThere(LabelOf(flags.inputs), Overview().steps));
    }
    const size_t count = std::max(rules.size(), outputs_.count());
    for (size_t i = 0; i < count; ++i) {
      const ChosenRule& chosen = rules[std::min(i, rules.size() - 1)];
      const std::string format = Element(flags.tables.formats, i, ".");
      const std::string output = Element(flags.tables.outputs, i, "-");
      const bool for_people = format.starts_with("column") || format.starts_with("table") ||
                              (format == "." && output == "-");
      RETURN_IF_ERROR(chosen.rule != nullptr
                          ? RunRule(i, chosen, for_people)
                          : RunAdvice(i, chosen.advice, flags.inputs, for_people, output == "-"));
    }
    return Status();
  }

  // Errors (kGate): one of the findings named in the gate was made.
  Status Gate(const std::vector<std::string>& lists) {
    ASSIGN_OR_RETURN(const std::vector<ReportSpec> specs, ParseReportList(lists));
    for (const ReportSpec& spec : specs) {
      for (const Finding& finding : Findings()) {
        if (spec.name != "any" && spec.name != finding.rule) continue;
        return Status::Error(ErrorKind::kGate, "--fail-on " + spec.name + ": " + finding.title);
      }
    }
    return Status();
  }

 private:
  const RunOverview& Overview() {
    if (overview_ == nullptr) {
      overview_ = std::make_unique<RunOverview>(BuildOverview(store_, {.steps = steps_}));
    }
    return *overview_;
  }
  const std::vector<Finding>& Findings() { return Overview().findings; }

  Status RunRule(size_t index, const ChosenRule& chosen, bool for_people) {
    std::string file_part = std::string(chosen.rule->name) + filter_.file_part;
    std::string arguments = filter_.arguments;
    for (const std::string& arg : chosen.args) {
      file_part += '_' + arg;
      arguments += (arguments.empty() ? "" : ":") + arg;
    }
    outputs_.Announce(index, chosen.rule->name, arguments, file_part);
    const std::string_view missing = chosen.rule->missing(store_);
    if (!missing.empty()) {
      RETURN_IF_ERROR(outputs_.Write(index, {}, file_part));
      outputs_.Finish(index, true,
                      "SKIPPED: " + store_.source + " could not be analyzed by " +
                          std::string(chosen.rule->name) + " because it does not contain " +
                          std::string(missing) + ".");
      return Status();
    }
    const stats::Query query{store_, filter_.window, chosen.args, compat_};
    ASSIGN_OR_RETURN(stats::RuleResult result, stats::RunRule(*chosen.rule, query));
    const bool empty = result.rows.row_count == 0;
    if (!for_people) {
      RETURN_IF_ERROR(outputs_.Write(index, result.rows, file_part));
      outputs_.Finish(index, empty, {});
      return Status();
    }
    std::string prologue = Heading(chosen.rule->title, chosen.rule->name) + result.advice + '\n';
    if (!empty) prologue += '\n';
    result.rows.title.clear();
    std::string epilogue;
    if (result.limited) {
      epilogue = "\nOnly the first " + std::to_string(result.rows.row_count) +
                 " are shown; rows=-1 shows all.\n";
    }
    RETURN_IF_ERROR(outputs_.Write(index, result.rows, file_part, prologue, epilogue));
    outputs_.Finish(index, empty, {});
    return Status();
  }

  Status RunAdvice(size_t index, const std::string& which, const std::vector<std::string>& runs,
                   bool for_people, bool to_console) {
    if (which == kDx12) {
      outputs_.Notice("SKIPPED: " + store_.source + " could not be analyzed by " + which +
                      " because it does not contain DX12 data.");
      return Status();
    }
    std::vector<Finding> findings = Findings();
    if (which != kAdvice) {
      std::erase_if(findings, [&](const Finding& finding) { return finding.rule != which; });
    }
    ResultTable table = MakeAdviceTable(Overview());
    if (which != kAdvice) {
      std::erase_if(table.rows, [&](const std::vector<Cell>& row) {
        return std::get<std::string>(row[0]) != which;
      });
    }
    if (!for_people) return outputs_.Write(index, KeepRows(std::move(table)), which);
    const TerminalStyle style = to_console ? TerminalStyle::Of(stdout) : TerminalStyle();
    RowSource nothing;
    return outputs_.Write(index, nothing, which,
                          Heading(TitleWith("What to change", MainRank(Overview())), kAdvice) +
                              FindingsText(findings, style, &store_, runs));
  }

  const Store& store_;
  TableOutputs& outputs_;
  const StepOptions& steps_;
  const EventFilter filter_;
  const bool compat_;
  std::unique_ptr<RunOverview> overview_;
};

Status ListRules(const std::string& which) {
  const bool all = which.empty() || which == "ALL" || which == "all";
  bool found = false;
  for (const stats::ExpertRule& rule : stats::ExpertRules()) {
    if (!all && which != rule.name) continue;
    found = true;
    std::printf("  %s%s\n      %s\n", std::string(rule.name).c_str(),
                all && which.empty() ? "" : std::string(rule.usage).c_str(),
                std::string(rule.help).c_str());
  }
  for (const AdviceRule& rule : AdviceRules()) {
    if (!all && which != rule.id) continue;
    found = true;
    std::printf("  %s\n      %s\n", std::string(rule.id).c_str(), rule.sentence.c_str());
  }
  if (all) std::printf("  advice\n      All findings about the training loop together.\n");
  return found || all ? Status() : UnknownRule(which);
}

// That nsys's rules are to be asked for, and flags that only they heed.
void SayWhatElseThereIs(const std::vector<ChosenRule>& rules, const AnalyzeFlags& flags,
                        const TableOutputs& outputs) {
  const bool of_nsys = std::any_of(rules.begin(), rules.end(),
                                   [](const ChosenRule& chosen) { return chosen.rule != nullptr; });
  if (of_nsys) return;
  if (flags.filter.any()) {
    outputs.Notice(
        "NOTE: --filter-time and --filter-nvtx change nothing in findings, which are about steps: "
        "--first-step and --last-step choose some, -r all has the rules of nsys, which they "
        "filter.");
  } else if (flags.rules.empty()) {
    outputs.Notice("NOTE: the rules of `nsys analyze` follow with -r all (--help-rules).");
  }
}

Status RunAnalyze(AnalyzeFlags& flags, bool overwrite_given) {
  flags.tables.force_overwrite = TakeBoolWord(flags.overwrite_words, overwrite_given, flags.inputs);
  TakeBoolWord(flags.export_words, true, flags.inputs);
  if (!flags.sqlite.empty()) flags.inputs = {flags.sqlite};
  ASSIGN_OR_RETURN(const std::vector<ChosenRule> rules,
                   ChooseRules(flags.rules, flags.tables.nsys_compat));
  ASSIGN_OR_RETURN(const std::vector<ReportSpec> gates, ParseReportList(flags.fail_on));
  for (const ReportSpec& spec : gates) {
    if (spec.name != "any" && (spec.name == kAdvice || !IsAdvice(spec.name))) {
      return UnknownRule(spec.name);
    }
  }
  RETURN_IF_ERROR(CheckStepFlags(flags.steps));
  RETURN_IF_ERROR(CheckFilterFlags(flags.filter));
  ASSIGN_OR_RETURN(flags.tables.time_unit, ParseTimeUnit(flags.time_unit));
  RETURN_IF_ERROR(CheckRuns("analyze", flags.inputs, "a format is that of -f"));
  ASSIGN_OR_RETURN(const std::string place, PlaceOfInput(flags.inputs[0]));
  ASSIGN_OR_RETURN(TableOutputs outputs, TableOutputs::Create(flags.tables, place));
  flags.use.input.doubled_calls = flags.tables.nsys_compat;
  ASSIGN_OR_RETURN(Store store, OpenJob(flags.inputs, flags.use));
  for (const std::string& line : ReadingNoteLines(LabelOf(flags.inputs), store)) {
    outputs.Notice(line);
  }
  ASSIGN_OR_RETURN(EventFilter filter, MakeFilter(store, flags.filter, flags.tables.nsys_compat));
  Analysis analysis(store, outputs, flags.steps, std::move(filter), flags.tables.nsys_compat);
  RETURN_IF_ERROR(analysis.Run(rules, flags));
  SayWhatElseThereIs(rules, flags, outputs);
  return analysis.Gate(flags.fail_on);
}

}  // namespace

void RegisterAnalyze(const Command& app, Outcome& outcome) {
  auto flags = std::make_shared<AnalyzeFlags>();
  const Command command = app.Add("analyze", "What to change, with evidence and gain");
  AddRuns(command, &flags->inputs);
  command
      .Option("-r,--rule", &flags->rules,
              "Rules: NAME[:OPTION=VALUE]...[,...]; all: those of nsys too (default: advice)")
      .TypeName("RULE,...")
      .OneValueEach();
  command.Option("--help-rules", &flags->help_rules, "List the rules; NAME or ALL for more")
      .TypeName("RULE")
      .ValueIsOptional();
  command
      .Option("--fail-on", &flags->fail_on,
              "Exit with code 1 if one of these findings is there, or any")
      .TypeName("any|RULE,...")
      .OneValueEach();
  AddNsysFlags(command, flags.get());
  AddClockFlag(command, &flags->use);
  AddStepFlags(command, &flags->steps);
  command.Runs([flags, command, &outcome] {
    outcome.status = command.Given("--help-rules") ? ListRules(flags->help_rules)
                     : command.Given("--help-formats")
                         ? PrintFormatHelp(flags->help_formats)
                         : RunAnalyze(*flags, command.Given("--force-overwrite"));
  });
}

}  // namespace batchlight::cli
