// batchlight ranks: the ranks of a job beside each other, from what is kept of each.
#include <charconv>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/partial/job_result.h"
#include "analysis/partial/partial_bytes.h"
#include "analysis/whatif/what_if.h"
#include "base/file.h"
#include "cli/engines/engine.h"
#include "cli/flags/command.h"
#include "cli/flags/run_argument.h"
#include "cli/ranks/flight_dumps.h"
#include "cli/ranks/rank_work.h"
#include "cli/reading/job_input.h"
#include "cli/reading/progress_line.h"
#include "cli/reading/rank_tables.h"
#include "cli/reading/standard_output.h"
#include "ingest/open_input.h"
#include "report/page/job_page.h"
#include "report/terminal/desync_text.h"
#include "report/terminal/ranks_text.h"
#include "report/terminal/what_if_text.h"
#include "report/text/rank_sentences.h"

namespace batchlight::cli {
namespace {

// Beyond these ranks the ends of calls, half of what a part needs in memory, are left where they
// are: waiting is told without them, clocks are not compared.
constexpr size_t kMostWithEnds = 2000;

struct RanksFlags {
  std::vector<std::string> runs;
  JobUse use;
  bool json = false;
  size_t rows = 10;
  std::string fail_on;
  std::string grid;
  std::string engine = "local";
  std::string html;    // file
  std::string tables;  // folder
  std::string format = "parquet";
  bool force_overwrite = false;
};

// The bytes of a part; if they are damaged after all, all of the recording is read.
Result<JobPart> PartOf(const std::string& path, const std::string& bytes, bool ends) {
  std::optional<JobPart> part = DecodeJobPart(bytes, ends);
  if (!part) {
    ASSIGN_OR_RETURN(const Store store, OpenInput(path));
    part = DecodeJobPart(EncodeJobPart(MakeJobPart(NameOfInput(path), store)), ends);
  }
  if (!part) return InputError(path + ": its ranks cannot be compared");
  part->identity.label = NameOfInput(path);
  return std::move(*part);
}

Result<std::vector<JobPart>> ReadParts(const RanksFlags& flags, std::vector<std::string>& notes) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine, OpenEngine(flags.engine));
  ASSIGN_OR_RETURN(const std::vector<EngineInput> inputs, engine->Find(flags.runs));
  std::vector<std::optional<Result<JobPart>>> read(inputs.size());
  ProgressLine progress;
  progress.Announce("reading " + std::to_string(inputs.size()) + " recordings");
  const bool ends = inputs.size() <= kMostWithEnds;
  RETURN_IF_ERROR(engine->Run(inputs, RankWork(), [&](size_t i, Result<std::string> bytes) {
    if (bytes.ok()) {
      read[i].emplace(PartOf(inputs[i].seen.path, bytes.value(), ends));
    } else {
      read[i].emplace(bytes.status());
    }
  }));
  progress.Clear();
  std::vector<JobPart> parts;
  Status first_error;
  for (size_t i = 0; i < inputs.size(); ++i) {
    Result<JobPart>& part = *read[i];
    if (part.ok()) {
      parts.push_back(std::move(part).value());
      continue;
    }
    const bool there = !inputs[i].places.empty() || FileExists(inputs[i].seen.path);
    if (inputs.size() == 1 || !there) return part.status();
    if (first_error.ok()) first_error = part.status();
    notes.push_back(part.status().message() + ": left out");
  }
  if (parts.empty()) return first_error;
  return parts;
}

// "straggler" or "straggler>3%": the share of a step from which on it is too much.
Result<double> LimitOf(const std::string& text) {
  const std::string name = "straggler";
  if (text == name) return 0.0;
  double percent = 0;
  if (text.starts_with(name + ">") && text.ends_with('%')) {
    const char* const end = text.data() + text.size() - 1;
    const auto [stop, error] = std::from_chars(text.data() + name.size() + 1, end, percent);
    if (error == std::errc() && stop == end && percent >= 0) return percent / 100;
  }
  return UsageError("--fail-on " + text + ": straggler, or such as 'straggler>3%'");
}

// A trace of a pipeline: CSV, which nothing else that can be read is.
Result<bool> TryWhatIf(const RanksFlags& flags) {
  if (flags.runs.size() != 1 || !flags.runs[0].ends_with(".csv")) return false;
  const std::string& path = flags.runs[0];
  ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(path));
  if (!IsPipelineTrace(text)) {
    return InputError(path + " is no trace of a pipeline: docs/ranks.md has the form of one");
  }
  const auto in_file = [&](const Status& status) {
    return Status(status).WithContext("cannot read " + path);
  };
  const auto operations = ReadPipelineTrace(text);
  if (!operations.ok()) return in_file(operations.status());
  const auto model = BuildPipelineModel(operations.value());
  if (!model.ok()) return in_file(model.status());
  const WhatIf found = AskWhatIf(model.value());
  RETURN_IF_ERROR(WriteOut(flags.json
                               ? WhatIfAsJson(found)
                               : WhatIfAsText(found, TerminalStyle::Of(stdout), flags.rows)));
  return true;
}

// Dumps of the flight recorder: which rank did not come to which call.
Result<bool> TryDesync(const RanksFlags& flags) {
  ASSIGN_OR_RETURN(const std::optional<DesyncResult> found, TryFlightDumps(flags.runs));
  if (!found) return false;
  for (const auto& [given, name] : {std::pair(!flags.fail_on.empty(), "--fail-on"),
                                    {!flags.grid.empty(), "--grid"},
                                    {!flags.html.empty(), "--html"},
                                    {!flags.tables.empty(), "--tables"},
                                    {flags.engine != "local", "--engine"},
                                    {flags.use.clock != "collectives", "--clock"}}) {
    if (given) {
      return UsageError(std::string(name) + " is for recordings, not for the dumps of a hung job");
    }
  }
  RETURN_IF_ERROR(WriteOut(flags.json
                               ? DesyncAsJson(*found)
                               : DesyncAsText(*found, TerminalStyle::Of(stdout), flags.rows)));
  return true;
}

Status Compare(const RanksFlags& flags, Outcome& outcome) {
  RETURN_IF_ERROR(CheckRuns("ranks", flags.runs));
  double limit = -1;
  if (!flags.fail_on.empty()) {
    ASSIGN_OR_RETURN(limit, LimitOf(flags.fail_on));
  }
  std::optional<RankGrid> grid;
  if (!flags.grid.empty()) {
    ASSIGN_OR_RETURN(grid, ParseGrid(flags.grid));
  }
  std::optional<RankTablesOutput> tables;
  if (!flags.tables.empty()) {
    ASSIGN_OR_RETURN(tables, RankTablesTo(flags.tables, flags.format, flags.force_overwrite));
  }
  ASSIGN_OR_RETURN(const bool played, TryWhatIf(flags));
  if (played) return {};
  ASSIGN_OR_RETURN(const bool dumps, TryDesync(flags));
  if (dumps) return {};
  std::vector<std::string> notes;
  ASSIGN_OR_RETURN(std::vector<JobPart> parts, ReadParts(flags, notes));
  ASSIGN_OR_RETURN(JobResult job,
                   CompareRanks(std::move(parts), ClockOf(flags.use), std::move(grid)));
  job.notes.insert(job.notes.end(), notes.begin(), notes.end());
  if (tables) RETURN_IF_ERROR(WriteRankTables(job, *tables));
  if (!flags.html.empty()) {
    RETURN_IF_ERROR(WriteWholeFile(
        flags.html, MakeJobPage(job, RanksAsText(job, {}, flags.rows), BATCHLIGHT_VERSION)));
    SayLine("wrote " + flags.html);
  }
  RETURN_IF_ERROR(WriteOut(flags.json ? RanksAsJson(job)
                                      : RanksAsText(job, TerminalStyle::Of(stdout), flags.rows)));
  if (limit < 0 || !job.straggler || job.straggler->lost_ns <= limit * job.step_ns) return {};
  outcome.exit_code = static_cast<int>(ErrorKind::kGate);
  SayLine("batchlight: gate " + flags.fail_on + " failed: " + StragglerSentence(job));
  return {};
}

}  // namespace

void RegisterRanks(const Command& app, Outcome& outcome) {
  auto flags = std::make_shared<RanksFlags>();
  const Command command =
      app.Add("ranks", "Compare the ranks of a job: who is waited for, and what that costs");
  command.Details(
      "Reads what `profile` kept of each rank at its end, not the events, so that a thousand "
      "recordings take seconds; of a recording without it, and of files of other tools, all is "
      "read.\n\n"
      "A .csv with the operations of a pipeline (docs/ranks.md) is played again instead: how much "
      "shorter a step would be if no worker, or not the last stage, were slow. The dumps of "
      "PyTorch's flight recorder (nccl_trace_rank_N, pickle or JSON) tell which rank a job that "
      "hangs waits for, in which call.");
  AddRuns(command, &flags->runs);
  command.Switch("--json", &flags->json, "One JSON object on standard output, of all ranks");
  command.Option("--rows", &flags->rows, "Rows of each list").NotNegative().ShowDefault();
  command
      .Option("--fail-on", &flags->fail_on,
              "Exit with code 1 if the others wait for one rank, or lose more than this part of a "
              "step to it: 'straggler>3%'")
      .TypeName("LIMIT");
  command
      .Option(
          "--grid", &flags->grid,
          "Where the ranks stand, the axis that runs fastest last: 'dp=4,pp=2,tp=8'; else found "
          "from who talks with whom")
      .TypeName("AXES");
  command
      .Option(
          "--tables", &flags->tables,
          "A folder with every step, phase, kernel, operator and collective of every rank, for SQL")
      .TypeName("FOLDER");
  command
      .Option("--html", &flags->html,
              "A page of the job: heat maps of all ranks by phase and by step, and each rank")
      .TypeName("FILE");
  command.Option("-f,--format", &flags->format, "Of --tables: parquet, arrow, csv, tsv, json")
      .TypeName("FORMAT")
      .ShowDefault();
  command.Switch("--force-overwrite", &flags->force_overwrite, "Replace tables that are there");
  AddEngineFlag(command, &flags->engine);
  AddClockFlag(command, &flags->use);
  command.Runs([flags, &outcome] { outcome.status = Compare(*flags, outcome); });
}

}  // namespace batchlight::cli
