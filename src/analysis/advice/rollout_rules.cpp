// Rollouts of reinforcement learning: how the model is asked for what it then learns from.
#include <charconv>
#include <vector>

#include "analysis/advice/advice_text.h"
#include "analysis/advice/rules.h"
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

  // Without shapes: who reads a number for each call asked for one sample.
  bool AreOfOne() const {
    if (products > 0) return double(of_one_row) >= kOfOne * double(products);
    return model_calls > 0 && scalars_read >= model_calls;
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
      const std::string_view name = store_.Text(calls.name[row]);
      found_.scalars_read += name == "aten::_local_scalar_dense";
      if (calls.shapes[row].IsNone() || !IsLayer(name)) continue;
      const int64_t rows = RowsOf(store_.Text(calls.shapes[row]));
      found_.products += rows > 0;
      found_.of_one_row += rows == 1;
    }
    const ModuleCallsTable& modules = store_.module_calls;
    for (uint32_t row = Skip(modules, modules_, rollout.start_ns);
         row < modules_.end && modules.start_ns[row] < rollout.end_ns; ++row) {
      found_.model_calls += modules.depth[row] == 0;
    }
  }
  const RolloutCalls& found() const { return found_; }

 private:
  template <typename Table>
  static uint32_t Skip(const Table& table, ThreadSpans::Rows& rows, int64_t until_ns) {
    while (rows.begin < rows.end && table.start_ns[rows.begin] < until_ns) ++rows.begin;
    return rows.begin;
  }

  const Store& store_;
  ThreadSpans::Rows operators_;  // from where the last rollout began
  ThreadSpans::Rows modules_;
  RolloutCalls found_;
};

}  // namespace

void RolloutOfOne(const RunMeasures& run, Findings* findings) {
  const ProcessSteps* main = run.steps.Main();
  const ProcessStages* stages = run.stages.Main();
  if (main == nullptr || stages == nullptr || main->thread.IsNone()) return;
  const StageTotal* rollouts = stages->Of(StageKind::kRollout);
  const StageTotal* training = stages->Of(StageKind::kTraining);
  if (rollouts == nullptr || training == nullptr) return;
  const auto rollout_ns = double(rollouts->total_ns);
  if (rollout_ns < kRepeatedShare * (rollout_ns + double(training->total_ns))) return;
  RolloutReader reader(*run.store, main->thread);
  for (const StageSpan& span : stages->spans) {
    if (span.kind == StageKind::kRollout) reader.Add(span);
  }
  const RolloutCalls& found = reader.found();
  if (!found.AreOfOne()) return;
  findings->push_back(
      {.title = "Rollouts ask the model for one sample at a time",
       .seen = "Rollouts took " + TimeOf(rollout_ns) + " together, training " +
               TimeOf(double(training->total_ns)) + "; in them the model was called " +
               std::to_string(found.model_calls) + " times, most often for a batch of one.",
       .why = "A call of a small model costs nearly the same for one sample as for many: Python, "
              "operators and launches.",
       .action = "Step several environments together and ask once for all of them "
                 "(gymnasium.vector, torch.stack of the observations); read the answers back with "
                 "one .tolist() or .cpu().",
       .evidence = {{.kind = "stage", .name = "rollout", .count = found.rollouts}},
       .run_gain_ns = rollout_ns * kRolloutGain,
       .run_uncertainty_ns = rollout_ns * kRolloutUncertainty,
       .patch = {.place = "",
                 .diff = "-actions = [policy(obs[None]) for obs in observations]\n"
                         "+actions = policy(torch.stack(observations))\n"}});
}

}  // namespace batchlight::advice
