// Rollouts of reinforcement learning: how the model is asked for what it then learns from.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <vector>

#include "analysis/advice/advice_text.h"
#include "analysis/advice/module_callers.h"
#include "analysis/advice/rules.h"
#include "analysis/lines/code_samples.h"
#include "analysis/lines/source_place.h"
#include "analysis/numbers/time_span.h"
#include "analysis/stages/stages.h"
#include "store/interval_index.h"

namespace batchlight::advice {
namespace {

// Products of the model's layers: their first operand of two dimensions or more has a row for each
// sample (`addmm` has the bias before it).
bool IsLayer(std::string_view op) {
  return op == "aten::linear" || op == "aten::addmm" || op == "aten::mm" ||
         op.starts_with("aten::conv");
}

// Rows of the first operand that has rows, of "[[64], [1, 4], [4, 64]]"; 0: none has.
int64_t RowsOf(std::string_view shapes) {
  for (size_t at = shapes.find('[', 1); at != std::string_view::npos;
       at = shapes.find('[', at + 1)) {
    const std::string_view dims = shapes.substr(at + 1, shapes.find(']', at) - at - 1);
    if (dims.find(',') == std::string_view::npos) continue;
    int64_t rows = 0;
    std::from_chars(dims.data(), dims.data() + dims.size(), rows);
    return rows;
  }
  return 0;
}

struct RolloutCalls {
  uint64_t products = 0;
  uint64_t of_one_row = 0;
  uint64_t scalars_read = 0;  // tensors of one number made Python's
  uint64_t model_calls = 0;   // of modules that no other module called
  uint64_t rollouts = 0;
  int64_t module_ns = 0;    // in modules that no other module called
  int64_t operator_ns = 0;  // in operators that no other called, and in Python to call them

  double model_ns() const { return double(std::max(module_ns, operator_ns)); }

  // Without shapes: who reads a number for each call asked for one sample. That of the last call
  // may be read when the rollout is over.
  bool AreOfOne() const {
    if (products > 0) return double(of_one_row) >= kOfOne * double(products);
    return model_calls > 0 && scalars_read + rollouts >= model_calls;
  }
};

class RolloutReader {
 public:
  RolloutReader(const Store& store, ThreadId thread)
      : store_(store),
        operators_(ThreadSpans(store.operator_calls.thread).Of(thread)),
        modules_(ThreadSpans(store.module_calls.thread).Of(thread)) {}

  void Add(const StageSpan& rollout) {
    ++found_.rollouts;
    const OperatorCallsTable& calls = store_.operator_calls;
    for (uint32_t row = Skip(calls, operators_, rollout.start_ns);
         row < operators_.end && calls.start_ns[row] < rollout.end_ns; ++row) {
      if (calls.start_ns[row] >= operators_end_ns_) {
        if (operators_end_ns_ >= rollout.start_ns) {
          const int64_t gap_ns = calls.start_ns[row] - operators_end_ns_;
          if (double(gap_ns) <= kRolloutCallNs) found_.operator_ns += gap_ns;
        }
        operators_end_ns_ = std::min(calls.end_ns[row], rollout.end_ns);
        found_.operator_ns += operators_end_ns_ - calls.start_ns[row];
      }
      const std::string_view name = store_.Text(calls.name[row]);
      found_.scalars_read += name == "aten::_local_scalar_dense" && IsReadByProgram(row);
      if (calls.shapes[row].IsNone() || !IsLayer(name)) continue;
      const int64_t rows = RowsOf(store_.Text(calls.shapes[row]));
      found_.products += rows > 0;
      found_.of_one_row += rows == 1;
    }
    const ModuleCallsTable& modules = store_.module_calls;
    for (uint32_t row = Skip(modules, modules_, rollout.start_ns);
         row < modules_.end && modules.start_ns[row] < rollout.end_ns; ++row) {
      if (modules.depth[row] != 0) continue;
      ++found_.model_calls;
      found_.module_ns += std::min(modules.end_ns[row], rollout.end_ns) - modules.start_ns[row];
    }
  }
  const RolloutCalls& found() const { return found_; }

 private:
  // Not for a condition, as distributions check what they are made of, nor in another operator that
  // draws samples: that is done once, however large the batch is.
  bool IsReadByProgram(uint32_t row) const {
    const OperatorCallsTable& calls = store_.operator_calls;
    for (OperatorCallId op = calls.parent[row]; !op.IsNone(); op = calls.parent[op.row()]) {
      if (calls.scope[op.row()] == OperatorScope::kUser) continue;
      if (store_.Text(calls.name[op.row()]) != "aten::item") return false;
    }
    return true;
  }

  template <typename Table>
  static uint32_t Skip(const Table& table, ThreadSpans::Rows& rows, int64_t until_ns) {
    while (rows.begin < rows.end && table.start_ns[rows.begin] < until_ns) ++rows.begin;
    return rows.begin;
  }

  const Store& store_;
  ThreadSpans::Rows operators_;  // from where the last rollout began
  ThreadSpans::Rows modules_;
  int64_t operators_end_ns_ = INT64_MIN;  // of the last one that no other called
  RolloutCalls found_;
};

// The rollouts of a loop that they take a good part of.
struct Rollouts {
  double total_ns = 0;  // 0: no such
  double training_ns = 0;
  RolloutCalls calls;

  // The rest is the environment's and the program's own.
  bool AreOfTheModel() const { return calls.model_ns() >= kRolloutInModel * total_ns; }
  std::string Lengths() const {
    return "Rollouts took " + TimeOf(total_ns) + " together, training " + TimeOf(training_ns);
  }
};

Rollouts RolloutsOf(const RunMeasures& run) {
  const ProcessSteps* main = run.steps.Main();
  const ProcessStages* stages = run.stages.Main();
  if (main == nullptr || stages == nullptr || main->thread.IsNone()) return {};
  const StageTotal* rollouts = stages->Of(StageKind::kRollout);
  const StageTotal* training = stages->Of(StageKind::kTraining);
  if (rollouts == nullptr || training == nullptr) return {};
  const auto rollout_ns = double(rollouts->total_ns), training_ns = double(training->total_ns);
  if (rollout_ns < kRepeatedShare * (rollout_ns + training_ns)) return {};
  RolloutReader reader(*run.store, main->thread);
  for (const StageSpan& span : stages->spans) {
    if (span.kind == StageKind::kRollout) reader.Add(span);
  }
  return {.total_ns = rollout_ns, .training_ns = training_ns, .calls = reader.found()};
}

// Whether the training process has started others, as those that environments run in.
bool HasChildren(const RunMeasures& run) {
  const ProcessesTable& processes = run.store->processes;
  const uint32_t training = processes.pid[run.steps.Main()->process.row()];
  return std::find(processes.parent_pid.begin(), processes.parent_pid.end(), training) !=
         processes.parent_pid.end();
}

std::vector<TimeSpan> SpansOfRollouts(const RunMeasures& run) {
  return SpansOf(run.stages.Main()->spans, StageKind::kRollout);
}

// Of the rollouts: copy.deepcopy, by samples. ns
double DeepCopiesNs(const RunMeasures& run, double rollouts_ns) {
  const ProcessSteps* main = run.steps.Main();
  const SampledTime sampled = CodeSamples(*run.store).During(main->thread, SpansOfRollouts(run));
  int64_t copies_ns = 0;
  for (const SampledFunction& function : sampled.innermost) {
    const std::string_view file = run.store->Text(function.file);
    if (ShortFile(file) == "copy.py" && OwnerOfSource(*run.store, file) == SourceOwner::kPython) {
      copies_ns += function.ns;
    }
  }
  return rollouts_ns * double(copies_ns) / double(std::max<int64_t>(1, sampled.all_ns));
}

}  // namespace

void RolloutWork(const RunMeasures& run, Findings* findings) {
  const Rollouts rollouts = RolloutsOf(run);
  if (rollouts.total_ns <= 0 || rollouts.AreOfTheModel()) return;
  const double work_ns = rollouts.total_ns - rollouts.calls.model_ns();
  // What simulates can be made cheaper; copies of the state are mostly for nobody.
  const double copies_ns = std::min(work_ns, DeepCopiesNs(run, rollouts.total_ns));
  const double gain_ns = (work_ns - copies_ns) * kRolloutWorkGain + copies_ns * kRolloutCopiesGain;
  findings->push_back(
      {.title =
           PercentOf(work_ns / rollouts.total_ns) + " of the rollouts lies outside of the model",
       .seen = rollouts.Lengths() + "; calls of the model and of operators are " +
               TimeOf(rollouts.calls.model_ns()) + " of it." +
               CodeOfStage(run, StageKind::kRollout).seen,
       .why = "The model waits for the environment and for what is done with its answers: "
              "simulating, drawing, recording, copying observations.",
       .action =
           std::string(copies_ns >= kDeepCopy * rollouts.total_ns
                           ? "Copy a state (copy.deepcopy) only where somebody reads the copy, as "
                             "at the end of an episode. "
                           : "") +
           std::string("Make that code cheaper or rarer (no drawing or video of every episode)") +
           (HasChildren(run)
                ? ", or let each of the program's processes do more before it answers: "
                  "several steps or environments for a message."
                : ", or run environments in processes of their own "
                  "(gymnasium.vector.AsyncVectorEnv)."),
       .evidence = {{.kind = "stage",
                     .name = "rollout",
                     .count = rollouts.calls.rollouts,
                     .longest = LongestOf(SpansOfRollouts(run))}},
       .run_gain_ns = gain_ns,
       .run_uncertainty_ns = work_ns * kRolloutWorkUncertainty,
       .patch = {}});
}

void RolloutOfOne(const RunMeasures& run, Findings* findings) {
  const Rollouts rollouts = RolloutsOf(run);
  const RolloutCalls& found = rollouts.calls;
  if (rollouts.total_ns <= 0 || !rollouts.AreOfTheModel() || !found.AreOfOne()) return;
  findings->push_back(
      {.title = "Rollouts ask the model for one sample at a time",
       .seen = rollouts.Lengths() + "; in them the model was called " +
               std::to_string(found.model_calls) + " times, " +
               (found.products > 0 ? "most often for a batch of one."
                                   : "and a number was read (.item()) for each call."),
       .why = "A call of a small model costs nearly the same for one sample as for many: Python, "
              "operators and launches.",
       .action = "Step several environments together and ask once for all of them "
                 "(gymnasium.vector, torch.stack of the observations); read the answers back with "
                 "one .tolist() or .cpu().",
       .evidence = {{.kind = "stage",
                     .name = "rollout",
                     .count = found.rollouts,
                     .longest = LongestOf(SpansOfRollouts(run))}},
       .run_gain_ns =
           std::min(rollouts.total_ns * kRolloutGain, found.model_ns() * kRolloutCallsGain),
       .run_uncertainty_ns = rollouts.total_ns * kRolloutUncertainty,
       .patch = {.place = CallerOfModels(run, SpansOfRollouts(run)),
                 .diff = "-actions = [policy(obs[None]) for obs in observations]\n"
                         "+actions = policy(torch.stack(observations))\n"}});
}

}  // namespace batchlight::advice
