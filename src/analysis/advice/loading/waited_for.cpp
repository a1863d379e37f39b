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

}  // namespace

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
  const std::vector<ProcessId> processes =
      workers.empty() ? std::vector<ProcessId>{main.process} : workers;
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
  if (most == sums.end() || all_ns / steps < kReadingCounts * waited_ns) return "";
  const bool one = most->second.ns > all_ns / 2;
  const std::string folder = one ? "" : DataFolder(store);
  if (!one && folder.empty()) return "";
  return " Reading " +
         (one ? '`' + std::string(store.Text(most->first)) + '`'
              : std::to_string(sums.size()) + " files below `" + folder + '`') +
         " takes " + TimeOf((one ? most->second.ns : all_ns) / steps) + " of a step" +
         (workers.size() > 1 ? " of the workers together" : "") + ", the slowest read " +
         TimeOf(double(one ? most->second.slowest_ns : slowest_ns)) + ".";
}

}  // namespace batchlight::advice
