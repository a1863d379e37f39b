// batchlight export: a recording in the formats of other tools.
#include "cli/commands/export_command.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "analysis/ranks/job_places.h"
#include "base/duration_text.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/nearest.h"
#include "base/partial_file.h"
#include "cli/flags/command.h"
#include "cli/flags/run_argument.h"
#include "cli/flags/step_flags.h"
#include "cli/reading/job_input.h"
#include "cli/reading/reading_notes.h"
#include "cli/reading/standard_output.h"
#include "cli/reading/table_outputs.h"
#include "export/exporter.h"
#include "export/per_rank.h"
#include "export/text/shown_times.h"
#include "ingest/common/emit_nvtx.h"
#include "ingest/open_input.h"

namespace batchlight::cli {
namespace {

struct ExportFlags {
  std::vector<std::string> inputs;
  JobUse use;
  std::string type = "sqlite";
  std::string output;
  std::string tables;
  std::string times;
  std::string shift = "0";
  std::string metric;
  std::string stacks = "calls";
  std::string normalize_words, overwrite_words, lazy_words, append_words, quiet_words;
  bool per_rank = false;
  bool spreadsheet = false;
  bool operators_as_nvtx = false;
  StepOptions steps;
};

Result<const Exporter*> ChooseExporter(const std::string& type) {
  const Exporter* exporter = FindExporter(type);
  if (exporter != nullptr) return exporter;
  std::vector<std::string_view> names;
  std::string all;
  for (const Exporter& known : Exporters()) {
    names.push_back(known.name);
    all += (all.empty() ? "" : ", ") + std::string(known.name);
  }
  const std::string near = DidYouMean(NearestFew(type, names));
  return UsageError("no export type \"" + type + "\"" + near +
                    (near.empty() ? "; there are " : " There are ") + all);
}

// r.batchlight becomes r.sqlite; a path without one of our extensions gets the new one appended.
std::string DefaultOutput(const std::string& input, std::string_view extension) {
  std::string base = input;
  while (base.size() > 1 && base.ends_with('/')) base.pop_back();
  for (const std::string_view known :
       {".batchlight.live", ".batchlight", ".sqlite", ".json.gz", ".json"}) {
    if (base.ends_with(known)) {
      base.resize(base.size() - known.size());
      break;
    }
  }
  return base + std::string(extension);
}

Status CheckStream(const Exporter& exporter, const ExportOptions& options, bool per_rank) {
  if (exporter.form == ExportForm::kText && !per_rank) return Status();
  std::string text_types;
  for (const Exporter& known : Exporters()) {
    if (known.form == ExportForm::kText) text_types += " " + std::string(known.name);
  }
  return UsageError("-o " + options.output + ": " +
                    (per_rank ? "--per-rank makes several files"
                     : exporter.form == ExportForm::kFolder
                         ? std::string(exporter.name) + " is a folder of files"
                         : std::string(exporter.name) + " is not written from begin to end") +
                    "; to a pipe or standard output go" + text_types);
}

// Where the output is looked for, be it through the folder that takes it.
std::string PlaceOf(const ExportOptions& options) {
  if (options.into == nullptr) return options.output;
  return options.into->DescriptorPath() + "/" + LastPartOf(options.output);
}

// `names_output`: the user said where, else it goes beside the input.
Status CheckOutput(const Exporter& exporter, const std::string& input, const ExportOptions& options,
                   bool force_overwrite, bool per_rank, bool names_output) {
  const bool is_folder = per_rank || exporter.form == ExportForm::kFolder;
  if (options.append && exporter.name != "csv") {
    return UsageError("--append adds to a folder of tables (-t csv); " +
                      std::string(exporter.name) + " is written as a whole");
  }
  if (options.output.ends_with(".gz")) {
    return UsageError(options.output +
                      ": export does not compress; write without .gz and run gzip "
                      "on it, or use -o - | gzip > " +
                      options.output);
  }
  const std::string place = PlaceOf(options);
  if (IsStream(place)) {
    if (names_output) return CheckStream(exporter, options, per_rank);
    // A pipe that somebody else put there would get the events, or wait for ever.
    return OutputError(options.output +
                       " exists and is no file; remove it, or name another place with -o");
  }
  struct stat out {};
  if (stat(place.c_str(), &out) != 0) return Status();
  std::error_code unknown;
  if (std::filesystem::equivalent(input, place, unknown)) {
    return UsageError(options.output + " is the input itself; choose another file with -o");
  }
  if (S_ISDIR(out.st_mode) != is_folder) {
    return OutputError(options.output + (is_folder ? " is not a folder" : " is a folder"));
  }
  if (force_overwrite || options.append) return Status();
  return OutputError(options.output + " exists; use --force-overwrite to replace it" +
                     (exporter.name == "csv" ? ", --append to add to it" : ""));
}

// Beside the input nothing is written but what is new, whatever is put under its name meanwhile.
Status HoldPlace(ExportOptions& options, std::optional<Folder>& held) {
  ASSIGN_OR_RETURN(Folder folder, Folder::OpenParent(options.output));
  options.into = &held.emplace(std::move(folder));
  return {};
}

// What the user should know of an export that holds less, or more, than it seems to.
void PrintNotes(const Store& store, const ExportFlags& flags, const Exporter& exporter,
                const ExportOptions& options, uint64_t rows) {
  const auto note = [](const std::string& text) { SayLine("NOTE: " + text + "."); };
  if (!options.selection.MeetsTimes(0, store.duration_ns)) {
    note("no event lies within --times=" + flags.times + ": the recording ends at " +
         std::to_string(store.duration_ns) + "ns");
  } else if (rows == 0 && !flags.tables.empty()) {
    note("no table with rows matches --tables=" + flags.tables);
  }
  if (exporter.name != "chrome" || flags.per_rank) return;
  std::set<int32_t> ranks;
  for (const JobPlace& place : FindJobPlaces(store, FindNcclCalls(store))) {
    if (place.rank >= 0) ranks.insert(place.rank);
  }
  if (ranks.size() < 2) return;
  note("the file holds " + std::to_string(ranks.size()) +
       " ranks; tools that want a file of each (Holistic Trace Analysis) need --per-rank");
}

// PyTorch's names of what export_stacks() writes.
Result<bool> IsGpuMetric(const std::string& metric, const Exporter& exporter) {
  if (metric.empty() || metric == "self_cpu_time_total") return false;
  if (metric != "self_cuda_time_total" && metric != "self_device_time_total") {
    return UsageError("--metric: self_cpu_time_total or self_cuda_time_total, not \"" + metric +
                      "\"");
  }
  if (exporter.name != "folded") return UsageError("--metric is for -t folded");
  return true;
}

constexpr const char* kStepFlags[] = {"--step-key", "--step-range", "--first-step", "--last-step",
                                      "--rank"};

// Whether these are stacks of a part of the time, if one is asked for.
bool HasShownTimes(const Exporter& exporter, const ExportOptions& options) {
  return (exporter.name == "folded" || exporter.name == "speedscope" || exporter.name == "pprof") &&
         IsNamed(options.stacks) && !IsOfBytes(options.stacks);
}

// Notices of flags that the type does not use.
void SayWithoutEffect(const Exporter& exporter, const Command& command,
                      const ExportOptions& options) {
  const auto note = [&](const char* flag, const char* type, const char* what) {
    if (!command.Given(flag) || exporter.name == type) return;
    std::fprintf(stderr, "NOTE: %s changes nothing in -t %s: only %s %s.\n", flag,
                 std::string(exporter.name).c_str(), type, what);
  };
  if (!HasShownTimes(exporter, options)) {
    for (const char* flag : kStepFlags) note(flag, "chrome", "holds steps");
    if (command.Given("--times") && options.stacks != ExportStacks::kCalls) {
      SayLine("NOTE: --times changes nothing in these stacks: only samples and calls have times.");
    }
  }
  if (exporter.name != "parquet" && exporter.name != "arrow") {
    note("--lazy", "sqlite", "and folders of columns may leave empty tables out");
  }
  note("--metric", "folded", "sums up a metric");
  if (exporter.name != "speedscope" && exporter.name != "pprof") {
    note("--stacks", "folded", "and its like (speedscope, pprof) are stacks");
  }
  note("--spreadsheet", "csv", "is read by spreadsheets");
  note("--operators-as-nvtx", "sqlite", "has NVTX_EVENTS");
}

// Stacks of samples and of calls: of --times and of the steps asked for alone.
Status KeepTimesAskedFor(const Command& command, const std::string& label,
                         const ExportOptions& options, Store& store) {
  const bool by_step = std::any_of(std::begin(kStepFlags), std::end(kStepFlags),
                                   [&](const char* flag) { return command.Given(flag); });
  if (!by_step && !command.Given("--times")) return {};
  StepSet steps;
  if (by_step) {
    steps = FindSteps(store, options.steps);
    RETURN_IF_ERROR(CheckStepsAreThere(label, steps));
    if (steps.processes.empty()) return InputError(label + ": " + steps.how);
  }
  if (KeepShownTimes(options.selection, by_step ? &steps : nullptr, options.stacks, store)) {
    return {};
  }
  return InputError(label + ": of these stacks nothing lies in that time");
}

// A rank for each input, or some, where there are several.
Result<uint64_t> Write(const std::vector<std::unique_ptr<Store>>& stores, const Exporter& exporter,
                       const ExportOptions& options, bool per_rank, bool quiet) {
  if (!per_rank) return exporter.run(*stores.front(), options);
  if (stores.size() == 1) return ExportPerRank(*stores.front(), exporter, options);
  std::vector<const Store*> inputs;
  for (const auto& store : stores) inputs.push_back(store.get());
  const stats::RankParts ranks = stats::FindRankParts(inputs);
  for (const std::string& note : ranks.notes) {
    if (!quiet) SayLine("NOTE: " + note + ".");
  }
  return ExportRanks(inputs, ranks, exporter, options);
}

// Leaves calls outside of --times out as they are read, where they change nothing of what is
// written. They do where steps are shown (chrome), ranks told apart, rows of all tables numbered
// (csv, jsonlines), and where the time of a kernel goes to who launched it.
void ReadTheTimesAlone(const Exporter& exporter, const ExportOptions& options, ExportFlags& flags) {
  if (flags.per_rank || options.by_gpu || options.stacks != ExportStacks::kCalls) return;
  if (exporter.name != "folded" && exporter.name != "speedscope" && exporter.name != "perfetto" &&
      exporter.name != "sqlite") {
    return;
  }
  const TimeRange times = options.selection.AllTimes();
  flags.use.input.recorded.first_ns = times.start_ns;
  flags.use.input.recorded.last_ns = times.end_ns;
}

// Each run by itself where each makes files of its own, else all as one job.
std::vector<std::vector<std::string>> RunsToOpen(const ExportFlags& flags) {
  if (!flags.per_rank) return {flags.inputs};
  std::vector<std::vector<std::string>> runs;
  for (const std::string& run : flags.inputs) runs.push_back({run});
  return runs;
}

ExportStacks StacksOf(const std::string& word) {
  return word == "python"            ? ExportStacks::kPython
         : word == "python-samples"  ? ExportStacks::kPythonSamples
         : word == "native"          ? ExportStacks::kNative
         : word == "native-phases"   ? ExportStacks::kNativePhases
         : word == "native-idle"     ? ExportStacks::kNativeIdle
         : word == "cuda-calls"      ? ExportStacks::kCudaCalls
         : word == "os-calls"        ? ExportStacks::kOsCalls
         : word == "memory"          ? ExportStacks::kMemory
         : word == "allocations"     ? ExportStacks::kAllocations
         : word == "gpu-memory"      ? ExportStacks::kGpuMemory
         : word == "gpu-allocations" ? ExportStacks::kGpuAllocations
                                     : ExportStacks::kCalls;
}

Status CheckStacks(const Exporter& exporter, const ExportFlags& flags, const ExportOptions& options,
                   bool given) {
  if (given && exporter.name == "pprof" && options.stacks == ExportStacks::kCalls) {
    return UsageError(
        "-t pprof has stacks of code: --stacks=python, the default, or another than calls; -t "
        "folded and speedscope have calls");
  }
  if (options.by_gpu && IsNamed(options.stacks)) {
    return UsageError("--metric=" + flags.metric + ": --stacks=" + flags.stacks +
                      " has no time of a GPU");
  }
  return Status();
}

Status RunExport(ExportFlags& flags, const Command& command) {
  const auto given = [&](const char* name) { return command.Given(name); };
  ExportOptions options;
  const bool force = TakeBoolWord(flags.overwrite_words, given("--force-overwrite"), flags.inputs);
  const bool quiet = TakeBoolWord(flags.quiet_words, given("--quiet"), flags.inputs);
  options.spreadsheet = flags.spreadsheet;
  options.append = TakeBoolWord(flags.append_words, given("--append"), flags.inputs);
  options.lazy = TakeBoolWord(flags.lazy_words, true, flags.inputs);
  const bool normalize = TakeBoolWord(flags.normalize_words, given("--ts-normalize"), flags.inputs);
  ASSIGN_OR_RETURN(const Exporter* exporter, ChooseExporter(flags.type));
  ASSIGN_OR_RETURN(options.by_gpu, IsGpuMetric(flags.metric, *exporter));
  options.stacks = StacksOf(flags.stacks);
  RETURN_IF_ERROR(CheckStacks(*exporter, flags, options, given("--stacks")));
  RETURN_IF_ERROR(
      CheckRuns("export", flags.inputs, "-f replaces what exists, the format is that of -t"));
  const std::string& input = flags.inputs[0];
  RETURN_IF_ERROR(CheckStepFlags(flags.steps));
  options.steps = flags.steps;
  RETURN_IF_ERROR(options.selection.SetTables(flags.tables));
  RETURN_IF_ERROR(options.selection.SetTimes(flags.times));
  ASSIGN_OR_RETURN(int64_t shift, ParseDuration(flags.shift));
  options.output = flags.output.empty()
                       ? DefaultOutput(input, flags.per_rank ? "_" + flags.type
                                                             : std::string(exporter->extension))
                       : flags.output;
  std::optional<Folder> held;
  if (flags.output.empty() && !flags.per_rank) RETURN_IF_ERROR(HoldPlace(options, held));
  RETURN_IF_ERROR(
      CheckOutput(*exporter, input, options, force, flags.per_rank, !flags.output.empty()));
  // Operators that the file has as ranges need no second ones.
  flags.use.input.operators = !flags.operators_as_nvtx;
  ReadTheTimesAlone(*exporter, options, flags);
  std::vector<std::unique_ptr<Store>> stores;
  for (const std::vector<std::string>& runs : RunsToOpen(flags)) {
    ASSIGN_OR_RETURN(Store opened, OpenJob(runs, flags.use));
    stores.push_back(std::make_unique<Store>(std::move(opened)));
    if (!quiet) SayReadingNotes(LabelOf(runs), *stores.back());
    if (exporter->name == "chrome") {
      RETURN_IF_ERROR(CheckStepsAreThere(LabelOf(runs), FindSteps(*stores.back(), flags.steps)));
    }
    if (HasShownTimes(*exporter, options)) {
      RETURN_IF_ERROR(KeepTimesAskedFor(command, LabelOf(runs), options, *stores.back()));
    }
  }
  const Store& store = *stores.front();
  options.operators_as_ranges = flags.operators_as_nvtx && !HasOperatorRanges(store);
  if (!quiet) SayWithoutEffect(*exporter, command, options);
  options.since_epoch = normalize;
  options.selection.SetShift(normalize ? shift + store.session_start_utc_ns : shift);
  MakeSizeLimitAnError();
  ASSIGN_OR_RETURN(const uint64_t rows, Write(stores, *exporter, options, flags.per_rank, quiet));
  if (quiet) return Status();
  SayLine("wrote " + (options.output == "-" ? "standard output" : options.output) + " (" +
          std::to_string(rows) + " rows)");
  PrintNotes(store, flags, *exporter, options, rows);
  return Status();
}

void AddStackFlags(const Command& command, ExportFlags& flags) {
  command
      .Option("--metric", &flags.metric,
              "folded: self_cpu_time_total (default) or self_cuda_time_total, as PyTorch's "
              "export_stacks()")
      .TypeName("self_cpu_time_total|self_cuda_time_total");
  command
      .Option("--stacks", &flags.stacks,
              "folded, speedscope, pprof: what is called (ranges, modules, operators, CUDA; not in "
              "pprof), lines of Python with the time of the operators that they call (profile "
              "--python-lines=gpu), "
              "functions of Python by samples, running and waiting (profile --python-sampling), "
              "native functions by CPU samples (profile --sample=process-tree), the same under the "
              "phase of the step or under why a GPU waited for their thread, or native functions "
              "that made long calls of CUDA (profile --cudabacktrace=all) or of the C library "
              "(profile -t osrt); by bytes: lines of Python that hold memory at the peak or "
              "allocate it (profile --python-memory), or a GPU's by PyTorch (profile "
              "--cuda-memory-usage=true --python-lines=gpu)")
      .TypeName(
          "calls|python|python-samples|native|native-phases|native-idle|cuda-calls|os-calls|memory|"
          "allocations|"
          "gpu-memory|gpu-allocations")
      .OneOf({"calls", "python", "python-samples", "native", "native-phases", "native-idle",
              "cuda-calls", "os-calls", "memory", "allocations", "gpu-memory", "gpu-allocations"})
      .ShowDefault();
}

}  // namespace

Result<std::string> ExportBeside(const Store& store, const std::string& input,
                                 const std::string& type, bool force_overwrite,
                                 const Folder& into) {
  ASSIGN_OR_RETURN(const Exporter* exporter, ChooseExporter(type));
  ExportOptions options;
  options.output = DefaultOutput(input, exporter->extension);
  options.into = &into;
  RETURN_IF_ERROR(CheckOutput(*exporter, input, options, force_overwrite, false, false));
  ASSIGN_OR_RETURN([[maybe_unused]] const uint64_t rows, exporter->run(store, options));
  return options.output;
}

void RegisterExport(const Command& app, Outcome& outcome) {
  auto flags = std::make_shared<ExportFlags>();
  const Command command = app.Add("export", "Write a recording for other tools");
  std::string types;
  for (const Exporter& exporter : Exporters()) {
    types += "\n" + std::string(exporter.name) + ": " + std::string(exporter.help);
  }
  AddRuns(command, &flags->inputs);
  command.Option("-t,--type", &flags->type, "Format:" + types).TypeName("TYPE").ShowDefault();
  command
      .Option("-o,--output", &flags->output,
              "File, or folder; - for standard output; beside the input if not given")
      .TypeName("FILE");
  command.Switch(
      "--per-rank", &flags->per_rank,
      "A folder with a file for each rank: rank_0.trace.json, ... Takes several RUNs, such "
      "as one of each rank");
  command.Switch("--operators-as-nvtx", &flags->operators_as_nvtx,
                 "sqlite: PyTorch's operators are ranges in NVTX_EVENTS too, named as nsys "
                 "--pytorch=autograd-nvtx records them");
  command.Option("-f,--force-overwrite", &flags->overwrite_words, "Replace what exists")
      .TypeName("true|false")
      .ValueIsOptional();
  command.Option("-q,--quiet", &flags->quiet_words, "No notices")
      .TypeName("true|false")
      .ValueIsOptional();
  command.Option("--append", &flags->append_words, "Add to an existing folder")
      .TypeName("true|false")
      .ValueIsOptional();
  command.Switch("--spreadsheet", &flags->spreadsheet,
                 "csv: an apostrophe before names that begin with = + - @, which spreadsheets "
                 "would take for formulas");
  command
      .Option(
          "-l,--lazy", &flags->lazy_words,
          "sqlite, parquet, arrow: true (default) leaves empty tables out, false makes them all")
      .TypeName("true|false")
      .ValueIsOptional();
  command
      .Option("--tables", &flags->tables,
              "Only tables whose name, ours or nsys's, one of these expressions matches")
      .TypeName("REGEX,...");
  command
      .Option("--times", &flags->times,
              "Only events within [:][START]/[END][:]; ':' lets them cross that edge")
      .TypeName("START/END");
  AddStackFlags(command, *flags);
  command.Option("--ts-shift", &flags->shift, "Add this to every time, in ns").TypeName("N");
  command
      .Option("--ts-normalize", &flags->normalize_words,
              "Times since the Unix epoch instead of since the start")
      .TypeName("true|false")
      .ValueIsOptional();
  AddClockFlag(command, &flags->use);
  AddStepFlags(command, &flags->steps);  // chrome writes steps, stacks are of steps alone
  command.Runs([flags, command, &outcome] { outcome.status = RunExport(*flags, command); });
}

}  // namespace batchlight::cli
