#include "analysis/advice/loading/waited_for.h"

#include <algorithm>
#include <cstdint>
#include <map>

#include "analysis/advice/advice_text.h"
#include "analysis/advice/loading/loader_workers.h"
#include "analysis/advice/rules.h"
#include "analysis/numbers/closed_end.h"
#include "analysis/os/data_files.h"
#include "analysis/steps/loop_span.h"

namespace batchlight::advice {
namespace {

struct Reading {
  double ns = 0;
  int64_t slowest_ns = 0;
};

// By file, while there are steps. A recording has one row for each opening: what lies in the loop
// is taken as even over its time.
std::map<StringId, Reading> ReadingIn(const Store& store, TimeSpan loop,
                                      const std::vector<ProcessId>& processes) {
  std::map<StringId, Reading> sums;
  const OsFilesTable& files = store.os_files;
  for (size_t row = 0; row < files.size(); ++row) {
    if (files.reads[row] == 0 || !IsDataFile(store.Text(files.file[row]))) continue;
    if (std::find(processes.begin(), processes.end(), files.process[row]) == processes.end()) {
      continue;
    }
    const int64_t start_ns = files.start_ns[row];
    const int64_t end_ns = std::max(ClosedEnd(store, start_ns, files.end_ns[row]), start_ns + 1);
    const int64_t inside_ns = std::min(end_ns, loop.end_ns) - std::max(start_ns, loop.start_ns);
    if (inside_ns <= 0) continue;
    Reading& sum = sums[files.file[row]];
    sum.ns += double(files.read_ns[row]) * double(inside_ns) / double(end_ns - start_ns);
    sum.slowest_ns = std::max(sum.slowest_ns, files.slowest_ns[row]);
  }
  return sums;
}

// Below so many bytes a file, opening it costs about as much as reading it; so many of a step are
// one for each sample.
constexpr double kSmallFile = 256 * 1024;
constexpr double kSmallFilesOfStep = 4;

struct SmallFiles {
  double per_step = 0;  // openings; 0: few, or of large files
  double bytes = 0;     // read of each
};

SmallFiles FindSmallFiles(const Store& store, const ProcessSteps& main,
                          const std::vector<ProcessId>& processes) {
  const OsFilesTable& files = store.os_files;
  const TimeSpan loop = SpanOfLoop(main.steps).whole;
  double opened = 0, bytes = 0;
  for (size_t row = 0; row < files.size(); ++row) {
    if (files.reads[row] == 0 || !IsDataFile(store.Text(files.file[row]))) continue;
    if (files.start_ns[row] < loop.start_ns || files.start_ns[row] >= loop.end_ns) continue;
    if (std::find(processes.begin(), processes.end(), files.process[row]) == processes.end()) {
      continue;
    }
    opened += 1;
    bytes += double(files.bytes_read[row]);
  }
  const double per_step = opened / double(main.steps.size());
  if (per_step < kSmallFilesOfStep || bytes > kSmallFile * opened) return {};
  return {per_step, bytes / opened};
}

std::vector<ProcessId> WhoLoads(const ProcessSteps& main, const std::vector<ProcessId>& workers) {
  return workers.empty() ? std::vector<ProcessId>{main.process} : workers;
}

std::string SmallFilesSentence(const SmallFiles& small) {
  if (small.per_step == 0) return "";
  return " " + Rounded(small.per_step) + " files are opened for a step, and " +
         Rounded(small.bytes / 1024) + " KiB read of each.";
}

}  // namespace

std::string SmallFilesAction(const RunMeasures& run, const ProcessSteps& main,
                             const std::vector<ProcessId>& workers) {
  if (main.steps.empty()) return "";
  if (FindSmallFiles(*run.store, main, WhoLoads(main, workers)).per_step == 0) return "";
  return "Pack the samples into few large files (one array that np.load(..., mmap_mode=\"r\") "
         "maps, "
         "tar shards, Parquet): each small file costs a look-up, an open and a read of its own. ";
}

std::string WorkerSentence(const RunMeasures& run, const ProcessSteps& main,
                           const std::vector<ProcessId>& workers) {
  const WorkerWaitedFor found = FindWorkerWaitedFor(*run.store, main, workers);
  if (found.process.IsNone()) return "";
  return " Of what the workers make meanwhile, " + PercentOf(found.share) +
         " is that of the one with the PID " +
         std::to_string(run.store->processes.pid[found.process.row()]) + ".";
}

std::string FileSentence(const RunMeasures& run, const ProcessSteps& main,
                         const std::vector<ProcessId>& workers, double waited_ns) {
  const Store& store = *run.store;
  if (main.steps.empty() || store.os_files.size() == 0) return "";
  const std::vector<ProcessId> processes = WhoLoads(main, workers);
  const std::string small = SmallFilesSentence(FindSmallFiles(store, main, processes));
  const auto sums = ReadingIn(store, SpanOfLoop(main.steps).whole, processes);
  double all_ns = 0;
  int64_t slowest_ns = 0;
  auto most = sums.end();
  for (auto sum = sums.begin(); sum != sums.end(); ++sum) {
    all_ns += sum->second.ns;
    slowest_ns = std::max(slowest_ns, sum->second.slowest_ns);
    if (most == sums.end() || sum->second.ns > most->second.ns) most = sum;
  }
  const auto steps = double(main.steps.size());
  if (most == sums.end() || all_ns / steps < kReadingCounts * waited_ns) return small;
  const bool one = most->second.ns > all_ns / 2;
  const std::string folder = one ? "" : DataFolder(store);
  if (!one && folder.empty()) return small;
  return " Reading " +
         (one ? '`' + std::string(store.Text(most->first)) + '`'
              : std::to_string(sums.size()) + " files below `" + folder + '`') +
         " takes " + TimeOf((one ? most->second.ns : all_ns) / steps) + " of a step" +
         (workers.size() > 1 ? " of the workers together" : "") + ", the slowest read " +
         TimeOf(double(one ? most->second.slowest_ns : slowest_ns)) + "." + small;
}

}  // namespace batchlight::advice
