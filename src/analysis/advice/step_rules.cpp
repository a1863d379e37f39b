#include <algorithm>

#include "analysis/advice/advice_text.h"
#include "analysis/advice/rules.h"
#include "analysis/numbers/closed_end.h"
#include "store/interval_index.h"

namespace batchlight::advice {
namespace {

struct Saves {
  uint64_t count = 0;
  int64_t total_ns = 0;
};

// What the loop's thread does around a save.
class LoopThread {
 public:
  LoopThread(const Store& store, ThreadId thread)
      : store_(store),
        operators_(ThreadSpans(store.operator_calls.thread).Of(thread)),
        phases_(ThreadSpans(store.phase_calls.thread).Of(thread)),
        calls_(ThreadSpans(store.api_calls.thread).Of(thread)) {}

  // The next thing that the loop does: until then a program that saves flushes, renames or copies
  // its file.
  int64_t NextEventNs(int64_t after_ns) const {
    return std::min({FirstStart(store_.operator_calls, operators_, after_ns),
                     FirstStart(store_.phase_calls, phases_, after_ns),
                     FirstStart(store_.api_calls, calls_, after_ns)});
  }

  // The end of what the loop did last before a moment: from then on a program that saves opens its
  // file, which may take long where it replaces another.
  int64_t LastEventNs(int64_t before_ns) const {
    const int64_t last_ns = std::max(LastEnd(store_.operator_calls, operators_, before_ns),
                                     LastEnd(store_.phase_calls, phases_, before_ns));
    return last_ns > before_ns ? INT64_MIN : last_ns;  // it is still going on
  }

 private:
  // The first row of the thread that starts at the moment or later; rows.end: there is none.
  template <typename Table>
  static size_t FirstRow(const Table& table, ThreadSpans::Rows rows, int64_t from_ns) {
    const auto begin = table.start_ns.begin();
    return static_cast<size_t>(std::lower_bound(begin + rows.begin, begin + rows.end, from_ns) -
                               begin);
  }
  template <typename Table>
  static int64_t FirstStart(const Table& table, ThreadSpans::Rows rows, int64_t from_ns) {
    const size_t row = FirstRow(table, rows, from_ns);
    return row < rows.end ? table.start_ns[row] : INT64_MAX;
  }
  template <typename Table>
  static int64_t LastEnd(const Table& table, ThreadSpans::Rows rows, int64_t before_ns) {
    size_t row = FirstRow(table, rows, before_ns);
    if (row == rows.begin) return INT64_MIN;
    --row;
    while (!table.parent[row].IsNone()) row = table.parent[row].row();
    return table.end_ns[row];
  }

  const Store& store_;
  ThreadSpans::Rows operators_;
  ThreadSpans::Rows phases_;
  ThreadSpans::Rows calls_;
};

// Outermost saves on the thread of the loop, from its first step on.
Saves FindSaves(const Store& store, const ProcessSteps& main) {
  Saves saves;
  const LoopThread loop(store, main.thread);
  const PhaseCallsTable& phases = store.phase_calls;
  int64_t counted_until_ns = INT64_MIN;
  for (size_t row = 0; row < phases.size(); ++row) {
    if (phases.phase[row] != Phase::kCheckpoint || phases.thread[row] != main.thread) continue;
    const int64_t start_ns = phases.start_ns[row];
    if (start_ns < main.steps.front().start_ns || start_ns < counted_until_ns) continue;
    if (store.Text(phases.name[row]) == "torch.load") continue;
    const int64_t end_ns = ClosedEnd(store, start_ns, phases.end_ns[row]);
    const int64_t next_ns = loop.NextEventNs(end_ns);
    const int64_t own_ns = end_ns - start_ns;
    const int64_t last_ns = std::max(loop.LastEventNs(start_ns), counted_until_ns);
    // A long silence around the save is something else than its file.
    const double longest_ns = kFileAroundSave * double(own_ns);
    const auto of_the_file = [&](int64_t from_ns, int64_t to_ns) {
      return from_ns != INT64_MIN && to_ns != INT64_MAX && double(to_ns - from_ns) <= longest_ns;
    };
    counted_until_ns = of_the_file(end_ns, next_ns) ? next_ns : end_ns;
    saves.total_ns += counted_until_ns - (of_the_file(last_ns, start_ns) ? last_ns : start_ns);
    ++saves.count;
  }
  return saves;
}

}  // namespace

void NoSteps(const RunMeasures& run, Findings* findings) {
  if (run.steps.Main() != nullptr) return;
  if (run.operators.calls + run.nvtx.ranges + run.gpu.kernel_count == 0) return;
  findings->push_back(
      {.title = "No training step was found",
       .seen = run.steps.how,
       .why = "Without steps there is no time per step, no breakdown and no estimate of gains.",
       .action = "Put a range around each step: with batchlight.annotate(\"step\"): ..., or name "
                 "what ends a step with --key."});
}

// The saving itself and what the loop does to the file before it goes on; nothing else of the steps
// that save, which may hold a validation too.
void CheckpointStall(const RunMeasures& run, Findings* findings) {
  const ProcessSteps* main = run.steps.Main();
  if (main == nullptr || main->steps.empty() || main->thread.IsNone()) return;
  const Saves saves = FindSaves(*run.store, *main);
  if (saves.count == 0) return;
  const double each_ns = double(saves.total_ns) / double(saves.count);
  const double per_step_ns = double(saves.total_ns) / double(main->steps.size());
  if (each_ns < kCheckpointStep * double(main->duration.median)) return;
  if (per_step_ns < kCheckpointShare * MeanStepNs(run)) return;
  findings->push_back(
      {.title = "Saving checkpoints stalls training",
       .seen = std::to_string(saves.count) + " checkpoints took " + TimeOf(each_ns) +
               " each, while a step takes " + TimeOf(double(main->duration.median)) + ".",
       .why = "The loop waits until the file is written.",
       .action = "Copy the state to the CPU and write it in another thread or process "
                 "(torch.distributed.checkpoint.async_save), or save less often.",
       .gain_ns = per_step_ns * kCheckpointGain,
       .uncertainty_ns = per_step_ns * kCheckpointUncertainty,
       .evidence = {{.kind = "call", .name = "torch.save", .count = saves.count}},
       .patch = {.place = RecordedPlace(run, "site.checkpoint"),
                 .diff = "-torch.save(state, path)\n"
                         "+copy = {key: value.detach().cpu().clone() for key, value in "
                         "state.items()}\n"
                         "+threading.Thread(target=torch.save, args=(copy, path)).start()\n"}});
}

void Recompilation(const RunMeasures& run, Findings* findings) {
  const ProcessSteps* main = run.steps.Main();
  if (main == nullptr || main->steady.empty()) return;
  const PhaseCallsTable& phases = run.store->phase_calls;
  const int64_t first_ns = main->steps[main->steady.front()].start_ns;
  const int64_t last_ns = main->steps[main->steady.back()].end_ns;
  uint64_t count = 0;
  int64_t total_ns = 0;
  for (size_t row = 0; row < phases.size(); ++row) {
    if (phases.phase[row] != Phase::kCompile || !phases.parent[row].IsNone() ||
        phases.end_ns[row] == kOpenEnd) {
      continue;
    }
    if (phases.start_ns[row] < first_ns || phases.start_ns[row] >= last_ns) continue;
    ++count;
    total_ns += phases.end_ns[row] - phases.start_ns[row];
  }
  if (count == 0) return;
  const double per_step_ns = double(total_ns) / double(main->steps.size());
  findings->push_back(
      {.title = "torch.compile compiles again while training",
       .seen = std::to_string(count) + " compilations after the warm-up took " +
               TimeOf(double(total_ns)) + ".",
       .why = "A guard failed: an input had a new size, or a Python value that was compiled in "
              "changed.",
       .action = "Run with TORCH_LOGS=recompiles to see which guard; mark changing sizes with "
                 "torch._dynamo.mark_dynamic, or pad the inputs to a few sizes.",
       .gain_ns = per_step_ns,
       .uncertainty_ns = per_step_ns * kRecompilationUncertainty,
       .evidence = {{.kind = "call", .name = "torch.compile", .count = count}}});
}

}  // namespace batchlight::advice
