// Forwards that compute for long what no gradient goes through, beside factorizations
// (unlearned-work): a normalized adjacency matrix, filter banks, positions, masks.
#include <algorithm>
#include <string>

#include "analysis/advice/advice_text.h"
#include "analysis/advice/rules.h"

namespace batchlight::advice {
namespace {

// Of its calls, those outside of steps: validation computes it too.
double CallsBeside(const ModuleRow& module, const ProcessSteps& main) {
  return std::max(0.0, double(module.calls) - module.calls_per_step * double(main.steps.size()));
}

// "`normalize` (model.py:30)": where forward of that module spends most of its own time.
std::string PlaceOf(const RunMeasures& run, const ProcessSteps& main, std::string_view path) {
  const ModuleCallsTable& calls = run.store->module_calls;
  std::vector<TimeSpan> spans;
  for (size_t row = 0; row < calls.size(); ++row) {
    if (calls.thread[row] != main.thread || run.store->Text(calls.path[row]) != path) continue;
    AddSpan(spans, calls.start_ns[row], calls.end_ns[row]);
  }
  return FunctionTexts(*run.store, CodeSamples(*run.store).During(main.thread, spans), 1);
}

}  // namespace

// Without a GPU alone: there the time of operators is that of launching them.
void WorkWithoutGradient(const RunMeasures& run, Findings* findings) {
  const ProcessSteps* main = run.steps.Main();
  const double step_ns = MeanStepNs(run);
  if (main == nullptr || main->steady.empty() || step_ns <= 0 || !run.gpu.empty()) return;
  for (const PlainWork& plain : run.unlearned_work.plain) {
    if (double(plain.ns) < kUngradedShare * step_ns * double(main->steady.size())) return;
    const std::string path(run.store->Text(plain.module));
    const ModuleRow* const module = ModuleOf(run, path);
    if (module == nullptr || module->backward_ns <= 0) continue;  // frozen-forward tells of it
    // A step may call it for a validation as well.
    const double each_ns = double(plain.ns) / double(plain.calls);
    const double work_ns = each_ns * std::max(1.0, module->calls_per_step);
    const std::string where = PlaceOf(run, *main, path);
    const std::string name(run.store->Text(plain.operator_name));
    const double gain_ns = work_ns * kUnlearnedGain;
    const double beside_ns = each_ns * kUnlearnedGain * CallsBeside(*module, *main);
    findings->push_back(
        {.title = (where.empty() ? '`' + path + '`' : where) + " computes without a gradient for " +
                  PercentOf(work_ns / step_ns) + " of a step",
         .seen = "In forward of `" + path + "` " + name + " and others take " + TimeOf(work_ns) +
                 " of a step, and autograd does not follow them: nothing that learns goes into "
                 "them.",
         .why = "What depends on neither parameters nor the batch is the same in every step; what "
                "is made of the batch alone is the same in every epoch.",
         .action = "Compute it once, before the loop or when the model is made, and keep it "
                   "(self.register_buffer): a normalized adjacency matrix, filters, positions, "
                   "masks. What needs the batch can be done where it is loaded.",
         .gain_ns = gain_ns,
         .uncertainty_ns = work_ns * kUnlearnedUncertainty,
         .evidence = {{.kind = "operator", .name = name, .per_step_ns = work_ns}},
         .run_gain_ns = beside_ns,
         .run_uncertainty_ns = beside_ns * kUnlearnedUncertainty,
         .patch = {.place = "",
                   .diff = "-def forward(self, x, adj):\n-    adj = normalize(adj)\n"
                           "+adj = normalize(adj)  # once, before the loop\n"}});
    return;
  }
}

}  // namespace batchlight::advice
