// The worker processes of the DataLoader that steps wait for, and what they have to do.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/run/run_measures.h"
#include "analysis/steps/steps.h"
#include "store/store.h"

namespace batchlight::advice {

// PyTorch names the iterator by its kind: the single-process one has no workers.
bool IsSingleProcess(std::string_view iterator);

// A DataLoader's worker: forked by the training process, spawned by it, or forked by its fork
// server.
bool IsLoaderWorker(const Store& store, size_t process, ProcessId training);

// Workers that begin with a new Python (start method "spawn", the only one of macOS and Windows),
// which imports what the program does before it unpickles the data set.
struct SpawnedWorkers {
  size_t count = 0;
  double imports_ns = 0;  // of each, in the mean
  std::string longest;    // the module with most of that, with all that it imports: "torch"
  double longest_ns = 0;  // of each, in the mean

  // " Each is spawned: a new Python that imports for 6.20 s (torch 5.10 s)."; "": none is, or
  // imports little.
  std::string Sentence() const;
};
SpawnedWorkers FindSpawnedWorkers(const Store& store, ProcessId training);

// Without those of iterators whose batches other stages take (validation's, which
// persistent_workers keeps).
std::vector<ProcessId> WorkersOfSteps(const RunMeasures& run, const ProcessSteps& main);
// Of these, how many are alive at the middle of the steady steps.
int CountInMiddle(const Store& store, const ProcessSteps& main,
                  const std::vector<ProcessId>& workers);

// Where the time of batches from workers goes, by samples of Python.
struct BatchesOfWorkers {
  double making_ns = 0;     // of a step: all workers together at fetching samples and collating
  double handed_share = 0;  // of the loop's waiting for batches: it takes them over
  bool known = false;

  // Whether the workers have little to do beside what the loop waits for their batches.
  bool IsHandOver(double waited_ns) const;
};
BatchesOfWorkers MeasureBatches(const Store& store, const ProcessSteps& main,
                                const std::vector<ProcessId>& workers);

// The worker that makes most of what workers make while the loop waits for a batch, by samples of
// Python. None: none stands out, or it is not known.
struct WorkerWaitedFor {
  ProcessId process;
  double share = 0;  // of what all of them make then
};
WorkerWaitedFor FindWorkerWaitedFor(const Store& store, const ProcessSteps& main,
                                    const std::vector<ProcessId>& workers);

}  // namespace batchlight::advice
