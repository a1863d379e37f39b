// batchlight probe storage: how fast a path is read and written, and whom that feeds.
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/split.h"
#include "cli/flags/command.h"
#include "cli/reading/job_input.h"
#include "cli/reading/progress_line.h"
#include "cli/reading/reading_notes.h"
#include "cli/reading/standard_output.h"
#include "probe/interruption.h"
#include "probe/storage_probe.h"
#include "probe/storage_tables.h"
#include "probe/storage_text.h"
#include "probe/storage_verdict.h"
#include "report/charts/plot.h"
#include "report/tables/table_format.h"

namespace batchlight::cli {
namespace {

struct StorageFlags {
  std::string path;
  double seconds = 60;
  std::string size = "4GiB";
  std::string workers;
  std::string run;
  std::string format = "text";
  std::string output;
};

bool IsPicture(const std::string& format) { return format == "png" || format == "svg"; }

Result<std::vector<int>> ParseWorkers(const std::string& text) {
  std::vector<int> counts;
  if (text.empty()) return counts;
  for (const std::string_view part : SplitAt(text, ',')) {
    const int count = std::atoi(std::string(part).c_str());
    if (count < 1 || count > 1024 || std::to_string(count) != part) {
      return UsageError("--workers: \"" + std::string(part) +
                        "\" is no number of processes from 1 to 1024");
    }
    counts.push_back(count);
  }
  return counts;
}

// Everything that can be wrong with the command line, before a minute of measuring.
Result<probe::StorageOptions> Checked(const StorageFlags& options) {
  probe::StorageOptions checked;
  checked.path = options.path;
  checked.seconds = options.seconds;
  if (!(options.seconds >= 1) || options.seconds > 86400) {
    return UsageError("--duration takes 1 to 86400 seconds");
  }
  ASSIGN_OR_RETURN(checked.bytes, probe::ParseSize(options.size));
  ASSIGN_OR_RETURN(checked.workers, ParseWorkers(options.workers));
  const bool own = options.format == "text" || options.format == "json";
  if (!own && !IsPicture(options.format)) {
    RETURN_IF_ERROR(ParseTableFormat(options.format).status());
  }
  return checked;
}

Result<std::string> Rendered(const probe::StorageReport& report, const std::string& format) {
  if (format == "text") return probe::StorageText(report);
  if (format == "json") return probe::StorageJson(report);
  if (IsPicture(format)) {
    const ResultTable table = probe::StorageChartTable(report.found);
    return RenderPlot(RowsOf(table), format == "svg" ? PictureFormat::kSvg : PictureFormat::kPng);
  }
  ASSIGN_OR_RETURN(const TableFormat parsed, ParseTableFormat(format));
  return TableText(parsed, RowsOf(probe::StorageTable(report.found)));
}

Status Run(const StorageFlags& options) {
  ASSIGN_OR_RETURN(probe::StorageOptions measured, Checked(options));
  probe::StorageReport report;
  std::optional<probe::RunReads> reads;
  if (!options.run.empty()) {
    report.run = options.run;
    ASSIGN_OR_RETURN(const Store store, OpenJob({options.run}, {}));
    SayReadingNotes(options.run, store);
    ASSIGN_OR_RETURN(reads, probe::ReadsOfRun(options.run, store));
  }
  ProgressLine progress;
  measured.progress = [&](const std::string& what, double share) { progress.Show(what, share); };
  auto found = probe::MeasureStorage(measured);
  progress.Clear();
  if (!found.ok()) return found.status();
  report.found = std::move(found).value();
  report.fed = probe::FeedAccelerators(report.found);
  if (reads.has_value()) report.for_run = probe::CompareWithRun(report.found, *reads);
  ASSIGN_OR_RETURN(const std::string text, Rendered(report, options.format));
  if (!options.output.empty() && options.output != "-") {
    return WriteWholeFile(options.output, text);
  }
  return IsPicture(options.format) ? WriteOut(text) : WriteNamesOut(text);
}

}  // namespace

void AddProbeStorage(const Command& probe, Outcome& outcome) {
  auto options = std::make_shared<StorageFlags>();
  const Command command =
      probe.Add("storage", "Measure how fast a folder's storage is read and written");
  command.Option("PATH", &options->path, "A folder on the storage; the probe's files are removed")
      .Required()
      .TypeName("FOLDER");
  command.Option("-d,--duration", &options->seconds, "Seconds that it may take")
      .TypeName("SECONDS")
      .ShowDefault();
  command
      .Option("--size", &options->size,
              "What it may write at one time, at most half of what is free")
      .TypeName("SIZE")
      .ShowDefault();
  command
      .Option("--workers", &options->workers,
              "Numbers of processes that read at once (default: 1,4,16 and the processors)")
      .TypeName("N,...");
  command
      .Option("--for", &options->run,
              "A recording with -t osrt: what its steps read against what PATH gives")
      .TypeName("RUN");
  command
      .Option("-f,--format", &options->format,
              "text, json, csv, column, ... (a row for each measurement), png or svg (a chart)")
      .TypeName("FORMAT")
      .ShowDefault();
  command.Option("-o,--output", &options->output, "Write to this file instead of standard output")
      .TypeName("FILE");
  command.Details(
      "Reads in blocks of 4 KiB, 128 KiB and 1 MiB, one after the other and at random, and whole "
      "small files; creates, lists and removes files; writes a checkpoint with fsync. Each with 1, "
      "4, 16 and as many processes as there are processors. Cold reads are those of which "
      "mincore() "
      "said that nothing was in memory. docs/probe.md explains the figures.");
  command.Runs([options, &outcome] {
    outcome.status = Run(*options);
    const int signal = probe::Interruption::Signal();
    if (outcome.status.ok() || signal == 0) return;
    SayLine("batchlight: " + outcome.status.message() + "; nothing is left in " + options->path);
    outcome.status = {};
    outcome.exit_code = 128 + signal;
  });
}

}  // namespace batchlight::cli
