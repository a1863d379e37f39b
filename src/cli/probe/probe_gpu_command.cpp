// batchlight probe gpu: what the GPUs of a host give, beside their data sheet and each other.
// Python with PyTorch measures (python/batchlight/_probe_gpu.py).
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/child.h"
#include "base/file.h"
#include "capture/program/python_verb.h"
#include "cli/flags/command.h"
#include "cli/reading/standard_output.h"
#include "cli/reading/temporary_folder.h"
#include "probe/gpu_result.h"
#include "report/tables/table_format.h"

namespace batchlight::cli {
namespace {

struct GpuFlags {
  std::vector<std::string> files;
  std::string before;
  std::string format = "text";
  std::string output;
};

Status CheckFormat(const std::string& format) {
  if (format == "text" || format == "json") return {};
  return ParseTableFormat(format).status();
}

// The JSON of the measurement. Errors: those that Python said, in a line of its own. It goes
// through a folder of this user alone: the name of the file can be read from Python's command line
// meanwhile.
Result<std::string> Measured(int& exit_code) {
  ASSIGN_OR_RETURN(const TemporaryFolder folder, TemporaryFolder::Make("batchlight-gpu-"));
  const std::string file = folder.path() + "/result.json";
  ASSIGN_OR_RETURN(const auto words, capture::PythonWords("probe-gpu", {file}));
  const Child child = StartChild({.words = words});
  if (child.error != 0) return capture::NoPython("probe gpu", child.error);
  exit_code = ShellExitCode(WaitForChild(child.pid));
  return exit_code == 0 ? ReadWholeFile(file) : std::string();
}

Result<probe::GpuResult> Read(const std::string& file) {
  ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(file));
  return probe::ParseGpuResult(file, text);
}

Status Run(const GpuFlags& options, int& exit_code) {
  RETURN_IF_ERROR(CheckFormat(options.format));
  if (options.format == "json" && !options.files.empty()) {
    return UsageError("-f json stores what is measured; FILEs are such results already");
  }
  std::optional<probe::GpuResult> before;
  if (!options.before.empty()) {
    ASSIGN_OR_RETURN(before, Read(options.before));
  }
  std::vector<probe::GpuResult> results;
  std::string text;
  if (options.files.empty()) {
    ASSIGN_OR_RETURN(text, Measured(exit_code));
    if (exit_code != 0) return {};  // Python said why
    ASSIGN_OR_RETURN(probe::GpuResult result, probe::ParseGpuResult("the measurement", text));
    results.push_back(std::move(result));
  }
  for (const std::string& file : options.files) {
    ASSIGN_OR_RETURN(probe::GpuResult result, Read(file));
    results.push_back(std::move(result));
  }
  if (options.format == "text") {
    text = probe::GpuText(results, before.has_value() ? &*before : nullptr);
  } else if (options.format == "json") {
    text += "\n";
  } else {
    ASSIGN_OR_RETURN(const TableFormat format, ParseTableFormat(options.format));
    text = TableText(format, RowsOf(probe::GpuTable(results)));
  }
  if (options.output.empty() || options.output == "-") return WriteNamesOut(text);
  return WriteWholeFile(options.output, text);
}

}  // namespace

void AddProbeGpu(const Command& probe, Outcome& outcome) {
  auto options = std::make_shared<GpuFlags>();
  const Command command =
      probe.Add("gpu", "Measure copies, memory, launches, products and links of the GPUs here");
  command
      .Option("FILE", &options->files,
              "Results of -f json, as of several hosts, to compare in place of measuring")
      .TypeName("");
  command
      .Option("--compare", &options->before, "A result of -f json: what became slower since then")
      .TypeName("FILE");
  command
      .Option("-f,--format", &options->format,
              "text, json (to store), csv, column, ... (a row for each figure)")
      .TypeName("FORMAT")
      .ShowDefault();
  command.Option("-o,--output", &options->output, "Write to this file instead of standard output")
      .TypeName("FILE");
  command.Details(
      "Needs a PyTorch with CUDA in the python3 beside this program, else in that of PATH. Takes "
      "the GPUs that CUDA_VISIBLE_DEVICES leaves; they should be idle. The data sheet's peaks are "
      "those that model FLOPs utilization is computed with.");
  command.Runs([options, &outcome] { outcome.status = Run(*options, outcome.exit_code); });
}

}  // namespace batchlight::cli
