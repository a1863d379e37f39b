#include <algorithm>

#include "analysis/advice/advice_text.h"
#include "analysis/advice/code_hints.h"
#include "analysis/advice/loading/loader_workers.h"
#include "analysis/advice/loading/waited_for.h"
#include "analysis/advice/processor_wait.h"
#include "analysis/advice/rules.h"
#include "analysis/lines/code_samples.h"
#include "analysis/numbers/quantile.h"
#include "analysis/os/data_files.h"
#include "analysis/steps/loop_span.h"

namespace batchlight::advice {
namespace {

bool IsInStep(const ProcessSteps& main, int64_t at_ns) {
  const auto after =
      std::upper_bound(main.steps.begin(), main.steps.end(), at_ns,
                       [](int64_t at, const Step& step) { return at < step.start_ns; });
  return after != main.steps.begin() && at_ns < std::prev(after)->end_ns;
}

// Whether the loader that the steps wait for has no workers: the one that validates may differ.
bool LoadsInTheTrainingProcess(const RunMeasures& run, const ProcessSteps& main) {
  const PhaseCallsTable& phases = run.store->phase_calls;
  int64_t single_ns = 0, all_ns = 0;
  for (size_t row = 0; row < phases.size(); ++row) {
    const bool waits = phases.phase[row] == Phase::kDataLoaderNext &&
                       phases.thread[row] == main.thread && phases.end_ns[row] != kOpenEnd &&
                       IsInStep(main, phases.start_ns[row]);
    if (!waits) continue;
    const int64_t ns = phases.end_ns[row] - phases.start_ns[row];
    all_ns += ns;
    if (IsSingleProcess(run.store->Text(phases.name[row]))) single_ns += ns;
  }
  if (all_ns > 0) return single_ns > all_ns / 2;
  return std::any_of(
      run.operators.by_name.begin(), run.operators.by_name.end(),
      [&](const OperatorRow& row) { return IsSingleProcess(run.store->Text(row.name)); });
}

// Batches that a step asks a DataLoader for: micro-batches, several loaders.
double BatchesPerStep(const Store& store, const ProcessSteps& main) {
  const PhaseCallsTable& phases = store.phase_calls;
  const TimeSpan loop = SpanOfLoop(main.steps).whole;
  size_t count = 0;
  for (size_t row = 0; row < phases.size(); ++row) {
    count += phases.phase[row] == Phase::kDataLoaderNext && phases.thread[row] == main.thread &&
             phases.start_ns[row] >= loop.start_ns && phases.start_ns[row] < loop.end_ns;
  }
  return std::max(1.0, double(count) / double(main.steps.size()));
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

// What the machine has left for loading while it computes.
struct Processors {
  int all = 0;   // 0: not known
  int each = 0;  // of them for one rank
  int free = 0;  // beside the threads that compute and the workers there are

  // For a loop that has none: two keep it fed while one waits for storage, but no more than there
  // are processors.
  int workers_to_start() const { return std::clamp(free, each > 0 ? std::min(2, each) : 2, 4); }
  bool no_room() const { return all > 0 && free < 1; }
  // To hand a batch of a worker to the loop.
  double receive_ns() const {
    return kReceiveBatchNs + (all > 0 && double(free) < kRoomForWorkers ? kTakeTurnsNs : 0);
  }
};

Processors ProcessorsOf(const RunMeasures& run, int workers) {
  Processors processors{.all = UsableProcessors(run)};
  const int threads = static_cast<int>(NumberProperty(run, "torch.threads"));
  const auto ranks = static_cast<int>(std::max<size_t>(1, run.steps.processes.size()));
  // With a GPU one thread launches; the others of the pool mostly rest.
  const int computing = (run.gpu.empty() ? std::max(1, threads) : 1) + workers;
  processors.each = processors.all > 0 ? std::max(1, processors.all / ranks) : 0;
  processors.free = processors.all / ranks - computing;
  return processors;
}

// Whether one of the times of processes, their starts or their ends, is a worker's in this span.
bool HasWorkerIn(const Store& store, ProcessId training, const auto& times, int64_t from_ns,
                 int64_t to_ns) {
  for (size_t i = 0; i < store.processes.size(); ++i) {
    if (IsLoaderWorker(store, i, training) && times[i] >= from_ns && times[i] < to_ns) return true;
  }
  return false;
}

// Rows of phases that are not within `row`, of the same thread, from the next on: past the end
// where there is none.
size_t NextBeside(const PhaseCallsTable& phases, size_t row) {
  size_t next = row + 1;
  while (next < phases.size() && phases.thread[next] == phases.thread[row] &&
         (phases.start_ns[next] < phases.end_ns[row] ||
          phases.phase[next] == Phase::kDataLoaderInit)) {
    ++next;
  }
  return next < phases.size() && phases.thread[next] == phases.thread[row] ? next : phases.size();
}

// What waiting for the end of the workers before took, in the call that found the epoch at its end.
int64_t EndBeforeNs(const Store& store, const ProcessSteps& main, size_t start, int64_t usual_ns) {
  const PhaseCallsTable& phases = store.phase_calls;
  for (size_t row = start; row-- > 0 && phases.thread[row] == main.thread;) {
    if (phases.phase[row] != Phase::kDataLoaderNext) continue;
    const bool ends =
        phases.end_ns[row] != kOpenEnd && HasWorkerIn(store, main.process, store.processes.end_ns,
                                                      phases.start_ns[row], phases.start_ns[start]);
    return ends ? std::max<int64_t>(0, phases.end_ns[row] - phases.start_ns[row] - usual_ns) : 0;
  }
  return 0;
}

// Typical time to get a batch.
int64_t MedianNextNs(const Store& store, ThreadId thread) {
  std::vector<int64_t> times;
  const PhaseCallsTable& phases = store.phase_calls;
  for (size_t row = 0; row < phases.size(); ++row) {
    if (phases.phase[row] == Phase::kDataLoaderNext && phases.thread[row] == thread &&
        phases.end_ns[row] != kOpenEnd) {
      times.push_back(phases.end_ns[row] - phases.start_ns[row]);
    }
  }
  return times.empty() ? 0 : LowerQuantile(times, 0.5);
}

}  // namespace

std::vector<WorkerStart> FindWorkerStarts(const Store& store, const ProcessSteps& main) {
  std::vector<WorkerStart> starts;
  const PhaseCallsTable& phases = store.phase_calls;
  const int64_t usual_ns = MedianNextNs(store, main.thread);
  for (size_t row = 0; row < phases.size(); ++row) {
    if (phases.phase[row] != Phase::kDataLoaderInit || phases.thread[row] != main.thread ||
        phases.end_ns[row] == kOpenEnd) {
      continue;
    }
    int64_t took_ns = phases.end_ns[row] - phases.start_ns[row];
    const size_t next = NextBeside(phases, row);
    const bool has_next = next < phases.size() && phases.phase[next] == Phase::kDataLoaderNext &&
                          phases.end_ns[next] != kOpenEnd;
    const int64_t until_ns = has_next ? phases.end_ns[next] : phases.end_ns[row];
    if (!HasWorkerIn(store, main.process, store.processes.start_ns, phases.start_ns[row], until_ns))
      continue;
    if (has_next) {
      took_ns += std::max<int64_t>(0, phases.end_ns[next] - phases.start_ns[next] - usual_ns);
    }
    starts.push_back({.at_ns = phases.start_ns[row],
                      .took_ns = took_ns,
                      .end_before_ns = EndBeforeNs(store, main, row, usual_ns)});
  }
  return starts;
}

namespace {

// While there are steps that count: what the first batch alone takes is another finding's.
SampledTime CodeOfWorkers(const RunMeasures& run, const ProcessSteps& main) {
  const Store& store = *run.store;
  const CodeSamples samples(store);
  if (samples.empty() || main.steady.empty()) return {};
  const std::vector<TimeSpan> loop = {
      {main.steps[main.steady.front()].start_ns, SpanOfLoop(main.steps).whole.end_ns}};
  std::vector<SampledTime> workers;
  for (size_t row = 0; row < store.threads.size(); ++row) {
    const ProcessId process = store.threads.process[row];
    if (process.IsNone() || !IsLoaderWorker(store, process.row(), main.process)) continue;
    if (store.threads.tid[row] != store.processes.pid[process.row()]) continue;
    workers.push_back(samples.During(ThreadId::At(row), loop));
  }
  return SumOf(workers);
}

struct LoadingCode {
  std::string first;   // "`__getitem__` (data.py:31)"; "": not known
  std::string names;   // up to three
  std::string called;  // "`ZipExtFile._read1` of zipfile"; "": nothing of packages
  CodeHint hint;

  // " Most of it is in `__getitem__` (data.py:31)."
  std::string Sentence(bool single) const {
    if (names.empty()) return "";
    return (single ? " Most of it is in " : " The workers are mostly in ") + names +
           (called.empty() ? "" : ", much of that in " + called) + ".";
  }
};

LoadingCode FindLoadingCode(const RunMeasures& run, const ProcessSteps& main, bool single) {
  const SampledTime time = single ? run.loop_work.loading : CodeOfWorkers(run, main);
  LoadingCode code{.first = FunctionTexts(*run.store, time, 1),
                   .names = FunctionTexts(*run.store, time)};
  if (code.names.empty()) return code;
  code.called = CalledText(*run.store, time);
  code.hint = HintFor(*run.store, time);
  return code;
}

// What part of loading is reading arrays of an NpzFile that was opened before: each access reads
// the whole array. Where samples find a file opened, each is of a sample: that takes 1 to 7 % of
// what reading does.
double ReadAgainShare(const RunMeasures& run) {
  const LoopWork& work = run.loop_work;
  int64_t read_ns = 0, opened_ns = 0;
  for (const auto& [name, ns] : work.loading_stacks) {
    // numpy/lib/npyio.py, from NumPy 2 on numpy/lib/_npyio_impl.py
    if (run.store->Text(name.first).find("npyio") == std::string_view::npos) continue;
    if (name.second.ends_with("__getitem__")) read_ns += ns;
    if (name.second == "load" || name.second.ends_with("__init__")) opened_ns += ns;
  }
  if (work.loading.all_ns <= 0 || opened_ns > 0) return 0;
  const double share = double(read_ns) / double(work.loading.all_ns);
  return share < kReadAgain ? 0 : std::min(1.0, share);
}

// What to do first where arrays are read again and again.
void AdviseReadingOnce(double share, Finding* finding) {
  finding->seen += " In " + PercentOf(share) +
                   " of that arrays of an .npz file are read: each access to an array of np.load() "
                   "reads all of it (of savez_compressed: inflates it too).";
  finding->action =
      "Read each array once, when the data set is made: arrays = {name: file[name] for name in "
      "file}; where they do not fit into memory keep them as .npy files and open these by "
      "np.load(path, mmap_mode=\"r\"). " +
      finding->action;
  finding->patch = {.place = "",
                    .diff =
                        "-self.files = [np.load(path) for path in paths]\n"
                        "+self.files = [dict(np.load(path)) for path in paths]\n"};
}

// What to do where the training process loads by itself.
void AdviseWorkers(const RunMeasures& run, const Processors& processors, const LoadingCode& code,
                   Finding* finding) {
  const std::string options = "num_workers=" + std::to_string(processors.workers_to_start()) +
                              ", persistent_workers=True" +
                              (run.gpu.empty() ? "" : ", pin_memory=True");
  const std::string place = RecordedPlace(run, "site.dataloader");
  const std::string load = "oad in the background" + (place.empty() ? "" : " (" + place + ")") +
                           ": DataLoader(..., " + options + ").";
  // On a machine that is busy with others, workers wait for a processor too.
  const bool is_busy = ProcessorWait(run) >= kBusyForWorkers;
  const std::string faster =
      "ake " + code.names + " faster" +
      (code.hint.text.empty() ? ", with operators on whole arrays instead of loops; what comes out "
                                "alike in every epoch can be made once, before the loop."
                              : ". " + code.hint.text);
  if (code.hint.text.empty() && !code.names.empty()) {
    finding->action = is_busy ? "M" + faster + " With processors to spare, l" + load
                              : "L" + load + " Or m" + faster;
  } else if (!code.hint.text.empty() && (code.hint.before_workers || is_busy)) {
    finding->action = "M" + faster + "Or l" + load;
  } else {
    finding->action = "L" + load + (code.hint.text.empty() ? "" : ' ' + code.hint.text);
  }
  finding->patch = {.place = place,
                    .diff =
                        "-loader = DataLoader(dataset, batch_size)\n"
                        "+loader = DataLoader(dataset, batch_size, " +
                        options + ")\n"};
}

// What to do where the workers there are do not keep up.
std::string MoreWorkersAction(bool has_gpu, int workers, const Processors& processors,
                              const LoadingCode& code) {
  const std::string what = code.names.empty()
                               ? "the work of a sample cheaper (decode, augment, collate)"
                               : code.names + " cheaper: read and decode less for a sample";
  const std::string cheaper =
      "make " + what + (has_gpu ? ", cache it, or move it to the GPU." : " or cache it.");
  if (processors.no_room()) {
    return "The " + std::to_string(processors.all) + " processors are all in use (" +
           std::to_string(workers) + (workers == 1 ? " worker" : " workers") +
           "): more workers would take them from each other. Rather " + cheaper;
  }
  const std::string room = processors.all == 0
                               ? " (up to the number of processors)"
                               : " (" + std::to_string(workers) + " now, room for " +
                                     std::to_string(processors.free) + " more on " +
                                     std::to_string(processors.all) + " processors)";
  if (code.names.empty()) {
    return "Give it more workers" + room + " or a larger prefetch_factor; " + cheaper;
  }
  return "M" + cheaper.substr(1) + ' ' + code.hint.text + "Or give it more workers" + room +
         " or a larger prefetch_factor.";
}

// What to type to learn which part of the loading it is. Without the script's arguments, which the
// one who shares a report may have left out.
std::string ProbeCommands(const Store& store, const ProcessSteps& main) {
  const std::string_view name =
      main.process.IsNone() ? "" : store.Text(store.processes.name[main.process.row()]);
  const std::string script(name.ends_with(".py") ? name : "SCRIPT");
  std::string text = " `batchlight probe loader " + script +
                     " ARGS` tells reading, decoding and sending apart and tries other settings";
  const std::string folder = DataFolder(store);
  if (!folder.empty()) {
    text += "; `batchlight probe storage " + folder +
            " --for RUN` says whether the storage keeps up with this run";
  }
  return text + ".";
}

std::string PinningText(double bytes, double ns) {
  return " With workers a batch of " + Rounded(bytes / 1e6) +
         " MB passes one thread that pins it, in about " + TimeOf(ns) + ".";
}

struct Wait {
  bool has_gpu = false;
  double share = 0;  // of the mean step, 0: none
  double ns = 0;
};

// For batches, where nothing hides it; what making iterators takes is another finding's.
Wait ExposedWait(const RunMeasures& run) {
  Wait wait{.has_gpu = run.gpu.MainBreakdown() != nullptr};
  const double step_ns = MeanStepNs(run);
  if (step_ns == 0) return wait;
  const double share = wait.has_gpu ? GpuShare(run, GpuPart::kIdleDataLoading)
                                    : PhaseShareOf(run, PhaseKind::kDataLoading);
  if (share < kDataWait) return wait;
  const double all_ns = wait.has_gpu ? GpuPartNs(run, GpuPart::kIdleDataLoading) : share * step_ns;
  wait.ns = std::max(0.0, all_ns - IteratorsMadeInSteps(run).exposed_ns);
  wait.share = share * wait.ns / all_ns;
  return wait;
}

// Where the workers have little to do, and the loop waits for the way of a batch from one to it.
// False: it is not so, or not known.
bool AdviseNoWorkers(const RunMeasures& run, const ProcessSteps& main,
                     const std::vector<ProcessId>& workers, double exposed_ns, Finding* finding) {
  const Store& store = *run.store;
  const BatchesOfWorkers batches = MeasureBatches(store, main, workers);
  if (!batches.IsHandOver(exposed_ns)) return false;
  const double taking_ns = batches.handed_share * exposed_ns;
  const int count = CountInMiddle(store, main, workers);
  const std::string who = count == 1 ? "worker" : "workers";
  finding->title = std::string("Training waits for its ") + (count == 1 ? "worker's" : "workers'") +
                   " batches to be handed over";
  finding->seen += " Making what a step needs takes the " +
                   (count > 1 ? std::to_string(count) + " workers together " : who + " ") +
                   TimeOf(batches.making_ns) + ", taking it over " + TimeOf(taking_ns) + ".";
  finding->why = std::string(
                     "A batch of a worker comes by messages between two processes, and "
                     "each waits until the other is given a processor") +
                 (ProcessorWait(run) > 0 ? "; all of these are in use." : ".");
  finding->action =
      "Load in the training process: DataLoader(..., num_workers=0), without persistent_workers "
      "and "
      "prefetch_factor, which need workers. Samples as cheap as these "
      "need no workers, and faster or more workers do not help.";
  const double pinning_ns = PinnedBytesPerStep(run) / kPinningRate;  // by the loop itself then
  finding->gain_ns = std::max(0.0, taking_ns - batches.making_ns - pinning_ns) * kDataWaitGain;
  finding->uncertainty_ns = finding->gain_ns * kHandOverUncertainty;
  finding->patch = {.place = RecordedPlace(run, "site.dataloader"),
                    .diff =
                        "-loader = DataLoader(dataset, num_workers=N)\n"
                        "+loader = DataLoader(dataset, num_workers=0)\n"};
  return true;
}

}  // namespace

void DataLoaderWait(const RunMeasures& run, Findings* findings) {
  const ProcessSteps* main = run.steps.Main();
  const Wait wait = ExposedWait(run);
  if (main == nullptr || wait.share < kDataWait) return;
  const double step_ns = MeanStepNs(run), exposed_ns = wait.ns;
  const bool single = LoadsInTheTrainingProcess(run, *main);
  const std::vector<ProcessId> of_steps =
      single ? std::vector<ProcessId>() : WorkersOfSteps(run, *main);
  const int workers = CountInMiddle(*run.store, *main, of_steps);
  const Processors processors = ProcessorsOf(run, workers);
  const double batch_bytes = single ? PinnedBytesPerStep(run) : 0;
  const double pinning_ns = batch_bytes / kPinningRate;
  const bool pinning_counts = pinning_ns > kLongPinning * (step_ns - exposed_ns);
  // A batch of a worker takes its way through a queue, which costs the loop more than a batch that
  // is only sliced out of a tensor. Without a free processor it also takes turns with computing.
  const double removable_ns =
      single ? exposed_ns - processors.receive_ns() * BatchesPerStep(*run.store, *main)
             : exposed_ns;
  const double room =
      single && processors.no_room() ? 1.0 - 1.0 / std::max(2, processors.all) : 1.0;
  const double again = single ? ReadAgainShare(run) : 0;
  const double once_ns = again * exposed_ns * kReadOnceGain;
  const double gain_ns =
      std::clamp(step_ns - pinning_ns, 0.0,
                 once_ns + (1 - again) * std::max(0.0, removable_ns) * kDataWaitGain * room);
  const LoadingCode code = FindLoadingCode(run, *main, single);
  Finding finding{
      .title =
          code.first.empty() ? "Training waits for data" : code.first + ": training waits for data",
      .seen = "In " + PercentOf(wait.share) + " of a step (" + TimeOf(exposed_ns) + ") " +
              (wait.has_gpu ? "the GPU is idle because the CPU waits for the DataLoader"
                            : "the loop waits for the DataLoader") +
              (single ? ", which loads in the training process itself (num_workers=0)." : ".") +
              code.Sentence(single) + WorkerSentence(run, *main, of_steps) +
              FileSentence(run, *main, of_steps, exposed_ns) +
              (pinning_counts ? PinningText(batch_bytes, pinning_ns) : ""),
      .why = single ? "With num_workers=0 loading and computing take turns."
                    : "The workers deliver batches more slowly than training uses them.",
      .gain_ns = gain_ns,
      .uncertainty_ns = pinning_counts ? gain_ns : exposed_ns * kDataWaitUncertainty,
      .evidence = {
          {.kind = "call",
           .name = single ? "_SingleProcessDataLoaderIter.__next__" : "DataLoader.__next__",
           .count = 1,
           .per_step_ns = exposed_ns,
           .event = "DataLoaderIter.__next__"}}};
  if (single)
    AdviseWorkers(run, processors, code, &finding);
  else if (!AdviseNoWorkers(run, *main, of_steps, exposed_ns, &finding))
    finding.action = MoreWorkersAction(wait.has_gpu, workers, processors, code);
  if (!CanBeSeen(run, finding.gain_ns)) return;
  if (again > 0) AdviseReadingOnce(again, &finding);
  finding.action = SmallFilesAction(run, *main, of_steps) + finding.action;
  finding.action += ProbeCommands(*run.store, *main);
  findings->push_back(std::move(finding));
}

std::string CheaperStartOfWorkers() {
  return "The first start is cheaper with multiprocessing_context=\"forkserver\" (Linux, macOS), "
         "which imports the "
         "program once for all of them, or \"fork\" where nothing has started CUDA or threads yet; "
         "and where what only "
         "training needs is imported under if __name__ == \"__main__\", and the data set lies in a "
         "module that "
         "imports little.";
}

void DataLoaderRestart(const RunMeasures& run, Findings* findings) {
  const double step_ns = MeanStepNs(run);
  const ProcessSteps* main = run.steps.Main();
  if (step_ns == 0 || main == nullptr || main->thread.IsNone()) return;
  const std::vector<WorkerStart> starts = FindWorkerStarts(*run.store, *main);
  if (double(starts.size()) < kLoaderStarts) return;
  double total_ns = 0, ends_ns = 0;
  for (const WorkerStart& start : starts) {
    total_ns += double(start.took_ns);
    if (&start != &starts.front()) ends_ns += double(start.end_before_ns);
  }
  if (total_ns / double(starts.size()) < step_ns) return;
  const double again_ns = total_ns - double(starts.front().took_ns) + ends_ns;
  const auto longest = std::max_element(
      starts.begin(), starts.end(),
      [](const WorkerStart& a, const WorkerStart& b) { return a.took_ns < b.took_ns; });
  const TimeSpan loop = SpanOfLoop(main->steps).whole;
  if (again_ns < kVisibleGain * double(loop.end_ns - loop.start_ns)) return;
  const std::string spawned = FindSpawnedWorkers(*run.store, main->process).Sentence();
  findings->push_back(
      {.title = "Every epoch starts the DataLoader's workers again",
       .seen = std::to_string(starts.size()) + " starts, each until its first batch, took " +
               TimeOf(total_ns / double(starts.size())) +
               " longer than a batch does; a step takes " + TimeOf(step_ns) + "." +
               (ends_ns > step_ns ? " Waiting for the end of those before took " +
                                        TimeOf(ends_ns / double(starts.size() - 1)) + " each."
                                  : "") +
               spawned,
       .why = "Without persistent_workers the worker processes end with the epoch; new ones import "
              "everything and open the data set again.",
       .action = "DataLoader(..., persistent_workers=True)." +
                 (spawned.empty() ? "" : " " + CheaperStartOfWorkers()),
       .evidence = {{.kind = "call",
                     .name = "DataLoader.__iter__",
                     .count = starts.size(),
                     .longest = {longest->at_ns, longest->at_ns + longest->took_ns}}},
       .run_gain_ns = again_ns,
       .run_uncertainty_ns = again_ns * kRestartUncertainty,
       .patch = {.place = RecordedPlace(run, "site.dataloader"),
                 .diff =
                     "-loader = DataLoader(dataset, num_workers=N)\n"
                     "+loader = DataLoader(dataset, num_workers=N, persistent_workers=True)\n"}});
}

}  // namespace batchlight::advice
