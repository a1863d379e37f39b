// batchlight dlprof: DLProf's command line. Records the program (or takes an nsys database), then
// writes its reports.
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "analysis/dlprof/reports.h"
#include "analysis/overview/run_overview.h"
#include "base/file.h"
#include "base/nearest.h"
#include "cli/commands/profile_command.h"
#include "cli/flags/command.h"
#include "cli/flags/flags.h"
#include "cli/flags/parse_error.h"
#include "cli/flags/step_flags.h"
#include "cli/reading/job_input.h"
#include "cli/reading/print_help.h"
#include "cli/reading/reading_notes.h"
#include "cli/reading/standard_output.h"
#include "ingest/open_input.h"
#include "report/tables/dlprof_files.h"
#include "report/tensorboard/dlprof_events.h"
#include "report/tensorboard/tensorboard.h"

namespace batchlight::cli {
namespace {

struct DlprofOptions {
  bool force = false;
  std::string verbosity = "normal";
  std::string mode = "pytorch";
  std::string nsys_database;
  std::string nsys_base_name = "nsys_profile";
  std::string nsys_opts = "-t cuda,nvtx -s none";
  double delay_s = 0;
  double duration_s = 0;
  std::string key_node;
  std::string key_op;
  int64_t iter_start = 0;
  int64_t iter_stop = INT64_MAX;
  std::string output_path = ".";
  std::string profile_name = "dlprof";
  std::string report_list;
  std::vector<std::string> reports;
  std::string format_list = "csv";
  std::vector<std::string> formats;
  std::string domain_list;
  std::vector<std::string> domains;
  bool dump_model_data = false;
  std::string tb_dir = "event_files";
  bool suppress_tb_files = false;

  bool Quiet() const { return verbosity == "quiet" || verbosity == "minimal"; }
};

// Warns of what was asked for and is missing, whatever the verbosity.
void Warn(const std::string& line) {
  std::fprintf(stderr, "batchlight dlprof: %s\n", line.c_str());
}

void Note(const DlprofOptions& options, const std::string& line) {
  if (!options.Quiet()) Warn(line);
}

// Words of --nsys_opts, whose value DLProf requires in two pairs of quotes: '"-t cuda,nvtx -s
// none"'.
std::vector<std::string> Words(const std::string& text) {
  const std::vector<std::string> words = SplitWords(text);
  return words.size() == 1 ? SplitWords(words[0]) : words;
}

std::string Trimmed(double seconds) {
  std::ostringstream text;
  text << seconds;
  return text.str();
}

Status CheckNames(const std::vector<std::string>& names, const std::vector<std::string_view>& known,
                  const std::string& option) {
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    return UsageError(option + ": no " + (name.empty() ? "empty name" : name) +
                      NearestOrAll(name, known));
  }
  return {};
}

Status CheckOptions(const DlprofOptions& options) {
  std::vector<std::string_view> reports = {"all", "expert_systems"};
  for (const dlprof::ReportEntry& entry : dlprof::Reports()) reports.push_back(entry.option);
  RETURN_IF_ERROR(CheckNames(options.reports, reports, "--reports"));
  RETURN_IF_ERROR(CheckNames(options.formats, {"csv", "json"}, "--formats"));
  if (options.iter_start < 0 || options.iter_stop < options.iter_start) {
    return UsageError("--iter_start " + std::to_string(options.iter_start) +
                      (options.iter_start < 0
                           ? ": iterations are counted from 0"
                           : " comes after --iter_stop " + std::to_string(options.iter_stop)));
  }
  if (!FileExists(options.output_path)) {
    return OutputError("--output_path: " + options.output_path + " is not there; create it first");
  }
  return {};
}

class ReportWriter {
 public:
  ReportWriter(const DlprofOptions& options, std::string domain)
      : options_(options), domain_(std::move(domain)) {}

  bool Wants(std::string_view report) const {
    for (const std::string& wanted : options_.reports) {
      if (wanted == "all" || wanted == report) return true;
    }
    return false;
  }

  Status Write(std::string_view report, const ResultTable& table) const {
    for (const std::string& format : options_.formats) {
      RETURN_IF_ERROR(WriteFile(std::string(report) + "." + format,
                                format == "csv" ? DlprofCsv(table) : DlprofJson(table)));
    }
    return {};
  }

  // An error if one of the requested files already exists.
  Status CheckFree() const {
    std::vector<std::string_view> names;
    for (const dlprof::ReportEntry& entry : dlprof::Reports()) {
      if (Wants(entry.option)) names.push_back(entry.file);
    }
    if (Wants("expert_systems")) names.push_back("expert_systems");
    for (const std::string_view name : names) {
      for (const std::string& format : options_.formats) {
        RETURN_IF_ERROR(CheckFree(PathOf(std::string(name) + "." + format)));
      }
    }
    return options_.dump_model_data ? CheckFree(PathOf("model_data.json")) : Status();
  }

  Status WriteFile(const std::string& end, const std::string& text) const {
    const std::string path = PathOf(end);
    RETURN_IF_ERROR(CheckFree(path));
    RETURN_IF_ERROR(WriteWholeFile(path, text));
    Note(options_, "wrote " + path);
    return {};
  }

 private:
  std::string PathOf(const std::string& end) const {
    return options_.output_path + "/" + options_.profile_name + "_" +
           (domain_.empty() ? "" : domain_ + "_") + end;
  }
  Status CheckFree(const std::string& path) const {
    if (!FileExists(path) || options_.force) return {};
    return OutputError(path + " exists; --force=true replaces it");
  }

  const DlprofOptions& options_;
  std::string domain_;
};

Status PrintFindings(const DlprofOptions& options, const std::vector<Finding>& findings) {
  if (options.verbosity == "quiet") return {};
  std::string text = "Expert Systems Feedback: " + std::to_string(findings.size()) +
                     (findings.size() == 1 ? " issue" : " issues") + " detected.\n\n";
  for (const Finding& finding : findings) {
    text += "Problem detected:\n    " + finding.title + ". " + finding.seen +
            "\nRecommended change:\n    " + finding.action + "\n\n";
  }
  return WriteNamesOut(text);
}

// The correlated model, raw: ops, and kernels with their op and iteration.
std::string ModelJson(const Store& store, const dlprof::Model& model) {
  ResultTable iterations{.name = "iterations", .title = "iterations"};
  iterations.columns = {{.name = "iteration"}, {.name = "start_ns"}, {.name = "end_ns"}};
  for (const dlprof::Iteration& iteration : model.iterations) {
    iterations.rows.push_back({iteration.number, iteration.start_ns, iteration.end_ns});
  }
  std::string json = "[\n" + DlprofJson(iterations);
  for (const dlprof::ReportEntry& entry : dlprof::Reports()) {
    if (entry.option == "detail" || entry.option == "iteration") {
      json += ",\n" + DlprofJson(entry.make(store, model));
    }
  }
  return json + "]\n";
}

Status WriteEventFiles(const DlprofOptions& options, const RunOverview& overview,
                       const dlprof::Model& model) {
  const std::string folder = options.output_path + "/" + options.tb_dir;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return OutputError("cannot create " + folder + ": " + error.message());
  ASSIGN_OR_RETURN(const std::string bytes, DlprofEvents(overview, model));
  const double start_s = static_cast<double>(overview.store->session_start_utc_ns) / 1e9;
  const std::string path =
      folder + "/" + TensorBoardWriter::FileName(start_s, options.profile_name);
  ASSIGN_OR_RETURN(const Folder into, Folder::OpenForOutput(folder));
  RETURN_IF_ERROR(WriteWholeFile(path, bytes, {.folder = &into}));
  Note(options, "wrote " + path + "; see it with: tensorboard --logdir " + folder);
  return {};
}

Result<dlprof::Model> ModelOf(const DlprofOptions& options, const RunOverview& overview,
                              const std::string& domain) {
  dlprof::ModelOptions wanted;
  wanted.simple = options.mode == "simple";
  wanted.first_iteration = options.iter_start;
  wanted.last_iteration = options.iter_stop;
  wanted.use_domain = !domain.empty();
  wanted.domain = domain;
  return dlprof::BuildModel(overview, wanted);
}

Status WriteReportsOf(const DlprofOptions& options, const RunOverview& overview,
                      const dlprof::Model& model, const std::string& domain) {
  const Store& store = *overview.store;
  const ReportWriter writer(options, domain);
  std::vector<ResultTable> written;
  for (const dlprof::ReportEntry& entry : dlprof::Reports()) {
    if (!writer.Wants(entry.option)) continue;
    written.push_back(entry.make(store, model));
    RETURN_IF_ERROR(writer.Write(entry.file, written.back()));
  }
  if (writer.Wants("expert_systems")) {
    written.push_back(ExpertSystemsReport(overview));
    RETURN_IF_ERROR(writer.Write("expert_systems", written.back()));
  }
  if (!written.empty()) RETURN_IF_ERROR(writer.Write("columns", DlprofColumns(written)));
  if (!options.dump_model_data) return {};
  return writer.WriteFile("model_data.json", ModelJson(store, model));
}

// One set of reports for each requested domain that the run has, or for the whole run. Errors
// (kUsage): it has none of the domains.
Status WriteReports(const DlprofOptions& options, const RunOverview& overview) {
  std::vector<std::pair<std::string, dlprof::Model>> models;
  std::vector<Status> missing;
  for (const std::string& domain : options.domains) {
    Result<dlprof::Model> model = ModelOf(options, overview, domain);
    if (model.ok()) {
      models.emplace_back(domain, std::move(model.value()));
    } else {
      missing.push_back(model.status());
    }
  }
  if (models.empty() && !missing.empty()) return missing.front();
  for (const Status& status : missing) Warn(status.message());
  if (models.empty()) {
    ASSIGN_OR_RETURN(dlprof::Model model, ModelOf(options, overview, ""));
    models.emplace_back("", std::move(model));
  }
  if (!models.front().second.notice.empty() && options.verbosity != "quiet") {
    Warn(models.front().second.notice);
  }
  for (const auto& [domain, model] : models) {
    RETURN_IF_ERROR(WriteReportsOf(options, overview, model, domain));
  }
  if (options.suppress_tb_files) return {};
  return WriteEventFiles(options, overview, models.front().second);
}

Status Report(const DlprofOptions& options, const std::string& input, const Store& store) {
  if (!options.Quiet()) SayReadingNotes(input, store);
  MeasureOptions wanted;
  wanted.steps.key = options.key_op.empty() ? options.key_node : options.key_op;
  wanted.steps.first_step = options.iter_start;
  wanted.steps.last_step = options.iter_stop;
  const RunOverview overview = BuildOverview(store, wanted);
  RETURN_IF_ERROR(CheckStepsAreThere(input, overview.steps));
  RETURN_IF_ERROR(WriteReports(options, overview));
  return PrintFindings(options, overview.findings);
}

// What `batchlight profile` is to be told.
std::vector<std::string> WordsOfProfile(const DlprofOptions& options,
                                        const std::vector<std::string>& program) {
  std::vector<std::string> words = Words(options.nsys_opts);
  words.insert(words.end(), {"-f", options.force ? "true" : "false", "-o",
                             options.output_path + "/" + options.nsys_base_name});
  if (options.mode == "pytorch") words.push_back("--pytorch=functions-trace,autograd-shapes-nvtx");
  if (options.delay_s > 0) words.insert(words.end(), {"-y", Trimmed(options.delay_s)});
  if (options.duration_s > 0) words.insert(words.end(), {"-d", Trimmed(options.duration_s)});
  words.push_back("--");
  words.insert(words.end(), program.begin(), program.end());
  return words;
}

// Runs the program as `batchlight profile` does, whose exit code becomes ours, and reports on what
// was sealed.
Status RecordAndReport(const DlprofOptions& options, const std::vector<std::string>& program,
                       Outcome& outcome) {
  ASSIGN_OR_RETURN(const ParsedFlags flags,
                   ParsedFlags::Parse(Verb::kProfile, WordsOfProfile(options, program)));
  ASSIGN_OR_RETURN(const ProfileOptions profile, MakeProfileOptions(flags));
  bool is_shown = false;
  Status reported;
  const auto show = [&](const RunOverview& overview, const WrittenFiles& files) {
    is_shown = true;
    RETURN_IF_ERROR(SummaryOn(stderr).Show(*overview.store, &overview, files));
    const std::string& recording = files.front().first;
    reported = Report(options, recording, *overview.store);
    if (reported.ok()) return Status();
    reported = Status::Error(reported.kind(), reported.message() +
                                                  "; the recording is there: report on it with " +
                                                  "--nsys_database=" + recording);
    return Status();
  };
  RunSession(profile, show, capture::Inherits::kOutput, outcome, Shows::kEachRank);
  RETURN_IF_ERROR(outcome.status);
  if (is_shown || outcome.exit_code != 0) return reported;
  return InputError("no reports: there is no recording of this run to read");
}

Status Run(DlprofOptions options, const std::vector<std::string>& program, Outcome& outcome) {
  RETURN_IF_ERROR(CheckOptions(options));
  for (const std::string& domain : options.domains) {
    RETURN_IF_ERROR(ReportWriter(options, domain).CheckFree());
  }
  if (options.domains.empty()) RETURN_IF_ERROR(ReportWriter(options, "").CheckFree());
  if (options.nsys_database.empty() && program.size() == 1 && IsRecording(program.front())) {
    options.nsys_database = program.front();
  }
  if (options.nsys_database.empty()) {
    if (program.empty()) return UsageError("nothing to do: give a program, or --nsys_database");
    return RecordAndReport(options, program, outcome);
  }
  ASSIGN_OR_RETURN(const Store store, OpenInput(options.nsys_database));
  return Report(options, options.nsys_database, store);
}

void AddOptions(const Command& command, DlprofOptions* options) {
  command.Option("-f,--force", &options->force, "Replace existing result files")
      .DefaultText("false");
  command.Option("-v,--verbosity", &options->verbosity, "How much to say")
      .OneOf({"quiet", "minimal", "normal", "detailed", "diagnostic"});
  command.Option("-m,--mode", &options->mode, "simple: numbers that need no framework")
      .OneOf({"simple", "pytorch"});
  command
      .Option("--nsys_database,--run", &options->nsys_database,
              "Report on this nsys .sqlite (or recording) instead of running a program")
      .TypeName("RUN");
  command.Option("--nsys_base_name", &options->nsys_base_name, "Base name of the recording")
      .TypeName("NAME");
  command.Option("--nsys_opts", &options->nsys_opts, "Flags of batchlight profile, quoted")
      .TypeName("FLAGS");
  command.Option("-y,--delay", &options->delay_s, "Seconds before recording starts")
      .TypeName("SECONDS");
  command.Option("-d,--duration", &options->duration_s, "Seconds to record; 0: all")
      .TypeName("SECONDS");
  command
      .Option("--key_node", &options->key_node,
              "Range or operator whose end ends an iteration; default: find the steps")
      .TypeName("NAME");
  command.Option("--key_op", &options->key_op, "The same as --key_node").TypeName("NAME");
  command.Option("--iter_start", &options->iter_start, "First iteration of the reports");
  command.Option("--iter_stop", &options->iter_stop, "Last iteration; default: the last found");
  command.Option("--output_path", &options->output_path, "Folder of everything that is written")
      .TypeName("FOLDER");
  command.Option("--profile_name", &options->profile_name, "Start of the reports' names")
      .TypeName("NAME");
  command
      .Option("--reports", &options->report_list,
              "all, summary, detail, kernel, iteration, tensor, op_type, group_node, "
              "expert_systems; default: none")
      .TypeName("DLPROF-REPORT,...");
  command.Option("--formats", &options->format_list, "csv, json").TypeName("csv|json,...");
  command.Option("--domains", &options->domain_list, "NVTX domains, a set of reports for each")
      .TypeName("NAME,...");
  command.Option("--dump_model_data", &options->dump_model_data, "Write the raw model as JSON");
  command.Option("--tb_dir", &options->tb_dir, "Folder of the TensorBoard event files")
      .TypeName("FOLDER");
  command.Option("-b,--suppress_tb_files", &options->suppress_tb_files,
                 "Write no TensorBoard event files");
}

// DLProf's help has "-f, --force="; in -f=true CLI11 would take "=true" for the value. From the
// first word that is neither an option nor the value of one, all words are the program's.
std::vector<std::string> SplitShortOptions(const std::vector<std::string>& words) {
  std::vector<std::string> split;
  size_t i = 0;
  while (i < words.size() && words[i].starts_with("-")) {
    const std::string& word = words[i++];
    if (word.size() > 2 && word[1] != '-' && word[2] == '=') {
      split.insert(split.end(), {word.substr(0, 2), word.substr(3)});
      continue;
    }
    split.push_back(word);
    const bool has_value =
        word.find('=') != std::string::npos || (word[1] != '-' && word.size() > 2);
    if (!has_value && i < words.size()) split.push_back(words[i++]);
  }
  split.insert(split.end(), words.begin() + static_cast<std::ptrdiff_t>(i), words.end());
  return split;
}

Status UnknownOption(const CLI::App& own, const std::string& word) {
  const std::string flag = word.substr(0, word.find('='));
  const std::vector<std::string> names = FlagsOf(own);
  return UsageError("no option " + flag +
                    DidYouMean(NearestFew(flag, {names.begin(), names.end()}, 2)) +
                    " (batchlight dlprof --help lists all)");
}

Status ParseAndRun(const Command& command, Outcome& outcome) {
  DlprofOptions options;
  CLI::App own("DLProf's command line: record a program, or take an nsys database, write reports",
               "batchlight dlprof");
  own.prefix_command();
  own.set_version_flag("-V,--version", "batchlight " BATCHLIGHT_VERSION);
  AddOptions(Command(&own), &options);
  const std::vector<std::string>& words = outcome.words;
  const auto dashes = std::find(words.begin(), words.end(), "--");
  std::vector<std::string> program(dashes == words.end() ? dashes : dashes + 1, words.end());
  std::vector<std::string> ours = SplitShortOptions({words.begin(), dashes});
  std::reverse(ours.begin(), ours.end());  // CLI11 takes them from the back
  try {
    own.parse(ours);
  } catch (const CLI::CallForHelp&) {
    return PrintHelp(command);
  } catch (const CLI::Success& asked) {  // version
    own.exit(asked);
    return {};
  } catch (const CLI::ParseError& error) {
    return UsageError(std::string(error.what()) +
                      " (batchlight dlprof --help tells what each takes)");
  }
  const std::vector<std::string> rest = own.remaining();
  if (!rest.empty() && rest.front().starts_with("-")) return UnknownOption(own, rest.front());
  program.insert(program.begin(), rest.begin(), rest.end());
  options.reports = SplitAtCommas(options.report_list);
  options.formats = SplitAtCommas(options.format_list);
  options.domains = SplitAtCommas(options.domain_list);
  return Run(options, program, outcome);
}

}  // namespace

void RegisterDlprof(const Command& app, Outcome& outcome) {
  const Command command = app.Add("dlprof", "DLProf's command line: record and write its reports");
  command.TakeAllWords();  // main hands over all words: the program's own follow ours
  auto described = std::make_shared<DlprofOptions>();  // for help and completion
  AddOptions(command, described.get());
  command.Runs([described, command, &outcome] { outcome.status = ParseAndRun(command, outcome); });
}

}  // namespace batchlight::cli
