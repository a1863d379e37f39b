#include <algorithm>

#include "analysis/advice/advice_text.h"
#include "analysis/advice/rules.h"

namespace batchlight::advice {
namespace {

// PyTorch names the iterator by its kind: the single-process one has no workers.
bool LoadsInTheTrainingProcess(const RunMeasures& run) {
  for (const OperatorRow& row : run.operators.by_name) {
    if (run.store->Text(row.name).find("_SingleProcessDataLoaderIter") != std::string_view::npos) {
      return true;
    }
  }
  const PhaseCallsTable& phases = run.store->phase_calls;
  for (size_t row = 0; row < phases.size(); ++row) {
    if (run.store->Text(phases.name[row]).find("_SingleProcessDataLoaderIter") !=
        std::string_view::npos) {
      return true;
    }
  }
  return false;
}

// Of copies to the GPU: the batch, where the loader pins it.
double PinnedBytesPerStep(const RunMeasures& run) {
  double bytes = 0;
  for (const CopyRow& copy : run.gpu.copies) {
    if (copy.kind == CopyKind::kHostToDevice && copy.source == MemoryKind::kPinned)
      bytes += copy.bytes_per_step;
  }
  return bytes;
}

}  // namespace

void DataLoaderWait(const RunMeasures& run, Findings* findings) {
  const double step_ns = MeanStepNs(run);
  const bool has_gpu = run.gpu.MainBreakdown() != nullptr;
  const double cpu_share = PhaseShareOf(run, PhaseKind::kDataLoading);
  const double share = has_gpu ? GpuShare(run, GpuPart::kIdleDataLoading) : cpu_share;
  if (step_ns == 0 || share < kDataWait) return;
  const double exposed_ns = has_gpu ? GpuPartNs(run, GpuPart::kIdleDataLoading) : share * step_ns;
  const bool single = LoadsInTheTrainingProcess(run);
  const double batch_bytes = single ? PinnedBytesPerStep(run) : 0;
  const double pinning_ns = batch_bytes / kPinningRate;
  const bool pinning_counts = pinning_ns > kLongPinning * (step_ns - exposed_ns);
  const double gain_ns = std::clamp(step_ns - pinning_ns, 0.0, exposed_ns * kDataWaitGain);
  if (!CanBeSeen(run, gain_ns)) return;
  // Workers hide the wait as long as they keep up; one process more hides at most all of it.
  findings->push_back(
      {.title = "Training waits for data",
       .seen = "In " + PercentOf(share) + " of a step (" + TimeOf(exposed_ns) + ") " +
               (has_gpu ? "the GPU is idle because the CPU waits for the DataLoader"
                        : "the loop waits for the DataLoader") +
               (single ? ", which loads in the training process itself (num_workers=0)." : ".") +
               (pinning_counts
                    ? " With workers a batch of " + Rounded(batch_bytes / 1e6) +
                          " MB passes one thread that pins it, in about " + TimeOf(pinning_ns) + "."
                    : ""),
       .why = single ? "With num_workers=0 loading and computing take turns."
                     : "The workers deliver batches more slowly than training uses them.",
       .action = single ? "Load in the background: DataLoader(..., num_workers=2 or more, "
                          "persistent_workers=True, pin_memory=True on a GPU)."
                        : "Give it more workers (up to the number of processors) or a larger "
                          "prefetch_factor; make the work of a sample cheaper (decode, augment, "
                          "collate), cache it, or move it to the GPU.",
       .gain_ns = gain_ns,
       .uncertainty_ns = pinning_counts ? gain_ns : exposed_ns * kDataWaitUncertainty,
       .evidence = {
           {.kind = "call",
            .name = single ? "_SingleProcessDataLoaderIter.__next__" : "DataLoader.__next__",
            .count = 1,
            .per_step_ns = exposed_ns}}});
}

void DataLoaderRestart(const RunMeasures& run, Findings* findings) {
  const double step_ns = MeanStepNs(run);
  const ProcessSteps* main = run.steps.Main();
  if (step_ns == 0 || main == nullptr) return;
  const PhaseCallsTable& phases = run.store->phase_calls;
  uint64_t count = 0;
  int64_t total_ns = 0;
  for (size_t row = 0; row < phases.size(); ++row) {
    if (phases.phase[row] != Phase::kDataLoaderInit || phases.end_ns[row] == kOpenEnd) {
      continue;
    }
    ++count;
    total_ns += phases.end_ns[row] - phases.start_ns[row];
  }
  if (double(count) < kLoaderStarts || double(total_ns) / double(count) < step_ns) return;
  const double per_step_ns = double(total_ns) / double(main->steps.size());
  findings->push_back(
      {.title = "Every epoch starts the DataLoader's workers again",
       .seen = std::to_string(count) + " starts took " + TimeOf(double(total_ns) / double(count)) +
               " each, longer than a step (" + TimeOf(step_ns) + ").",
       .why = "Without persistent_workers the worker processes end with the epoch; new ones import "
              "everything and load the data set again.",
       .action = "DataLoader(..., persistent_workers=True).",
       .gain_ns = per_step_ns * double(count - 1) / double(count),
       .uncertainty_ns = per_step_ns * kRestartUncertainty,
       .evidence = {{.kind = "call", .name = "DataLoader.__iter__", .count = count}}});
}

}  // namespace batchlight::advice
