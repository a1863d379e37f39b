#include "probe/storage_verdict.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "analysis/os/data_files.h"
#include "analysis/steps/loop_span.h"
#include "analysis/steps/steps.h"

namespace batchlight::probe {
namespace {

struct Workload {
  std::string_view name;
  double samples;
  double sample_bytes;
  double step_s;
  StorageKind kind;
  uint64_t block_bytes;
  std::string_view reads;
};
constexpr Workload kWorkloads[] = {
#define WORKLOAD(name, samples, sample_bytes, step_s, Kind, block_bytes, reads) \
  {name, samples, sample_bytes, step_s, StorageKind::Kind, block_bytes, reads},
#include "probe/workloads.def"
#undef WORKLOAD
};

// From the first step's begin to the last one's end, over all ranks.
struct Training {
  int64_t start_ns = INT64_MAX;
  int64_t end_ns = INT64_MIN;
};

// The part of [start, end] that lies in it.
double ShareWithin(const Training& training, int64_t start_ns, int64_t end_ns) {
  const int64_t begin = std::max(start_ns, training.start_ns);
  const int64_t end = std::min(end_ns, training.end_ns);
  if (begin > end) return 0;
  return end_ns > start_ns ? double(end - begin) / double(end_ns - start_ns) : 1;
}

const StorageCase* Nearest(StorageKind kind, double block_bytes) {
  const StorageCase* nearest = nullptr;
  double least = INFINITY;
  for (const StorageCase& what : StorageCases()) {
    if (what.kind != kind) continue;
    const double distance =
        std::abs(std::log2(std::max(1.0, block_bytes)) - std::log2(double(what.block_bytes)));
    if (distance < least) nearest = &what;
    least = std::min(least, distance);
  }
  return nearest;
}

}  // namespace

std::vector<FedAccelerators> FeedAccelerators(const StorageMeasurements& found) {
  std::vector<FedAccelerators> fed;
  for (const Workload& workload : kWorkloads) {
    FedAccelerators row;
    row.workload = workload.name;
    row.reads = workload.reads;
    row.needed_bytes_per_s = workload.samples * workload.sample_bytes / workload.step_s;
    row.measured = found.Best(workload.kind, workload.block_bytes, true);
    if (row.measured != nullptr) {
      row.accelerators = row.measured->bytes_per_s / row.needed_bytes_per_s;
    }
    fed.push_back(row);
  }
  return fed;
}

Result<RunReads> ReadsOfRun(const std::string& run, const Store& store) {
  const StepSet steps = FindSteps(store);
  const ProcessSteps* main = steps.Main();
  if (main == nullptr) return InputError(run + " has no steps to compare with: " + steps.how);
  Training training;
  for (const ProcessSteps& process : steps.processes) {
    const TimeSpan loop = SpanOfLoop(process.steps).whole;
    training.start_ns = std::min(training.start_ns, loop.start_ns);
    training.end_ns = std::max(training.end_ns, loop.end_ns);
  }
  const OsFilesTable& files = store.os_files;
  if (files.size() == 0) {
    return InputError(run +
                      " does not tell what its steps read: record it again with "
                      "`batchlight profile -t cuda,nvtx,osrt ...`");
  }
  RunReads reads;
  double opened = 0;
  double calls = 0;
  for (size_t row = 0; row < files.size(); ++row) {
    if (files.reads[row] == 0 || !IsDataFile(store.Text(files.file[row]))) continue;
    const double share = ShareWithin(training, files.start_ns[row], files.end_ns[row]);
    reads.bytes_per_step += share * double(files.bytes_read[row]);
    reads.read_ns_per_step += share * double(files.read_ns[row]);
    calls += share * double(files.reads[row]);
    opened += share > 0 ? 1 : 0;
  }
  reads.steps = main->steps.size();
  if (reads.bytes_per_step < 1) {
    return InputError(run +
                      ": its steps read no files by calls: the data was in memory before, or "
                      "is mapped (mmap), which calls do not show");
  }
  const double count = double(reads.steps);
  reads.bytes_per_read = reads.bytes_per_step / calls;
  reads.bytes_per_file = reads.bytes_per_step / std::max(1.0, opened);
  reads.bytes_per_step /= count;
  reads.read_ns_per_step /= count;
  reads.files_per_step = opened / count;
  std::vector<int64_t> durations;
  for (const uint32_t steady : main->steady) {
    durations.push_back(main->steps[steady].duration_ns());
  }
  std::nth_element(durations.begin(), durations.begin() + ptrdiff_t(durations.size() / 2),
                   durations.end());
  reads.step_ns = double(durations[durations.size() / 2]);
  return reads;
}

RunVerdict CompareWithRun(const StorageMeasurements& found, const RunReads& reads) {
  RunVerdict verdict;
  verdict.reads = reads;
  // A file for each sample or two reads as small files do; else blocks of a file that stays open.
  constexpr double kSmallest = 8 << 10;
  constexpr double kLargest = 1 << 20;
  const bool small = reads.files_per_step >= 2 && reads.bytes_per_file >= kSmallest &&
                     reads.bytes_per_file <= kLargest;
  const StorageCase* what = Nearest(small ? StorageKind::kSmallFiles : StorageKind::kRandomRead,
                                    std::max(reads.bytes_per_read, 4096.0));
  // Whole large files are read from begin to end.
  if (!small && reads.files_per_step >= 0.5) {
    what = Nearest(StorageKind::kSequentialRead, reads.bytes_per_read);
  }
  verdict.measured = found.Best(what->kind, what->block_bytes, true);
  verdict.warm = found.Best(what->kind, what->block_bytes, false);
  verdict.needed_bytes_per_s = reads.bytes_per_step * 1e9 / std::max(1.0, reads.step_ns);
  if (verdict.measured != nullptr && verdict.measured->bytes_per_s > 0) {
    verdict.times_needed = verdict.measured->bytes_per_s / verdict.needed_bytes_per_s;
    verdict.step_ns = reads.bytes_per_step * 1e9 / verdict.measured->bytes_per_s;
  }
  return verdict;
}

}  // namespace batchlight::probe
