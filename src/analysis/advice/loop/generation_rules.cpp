// Tokens that are generated one by one: in rollouts, in a step, in validation.
#include <algorithm>
#include <string>

#include "analysis/advice/advice_text.h"
#include "analysis/advice/rules.h"
#include "analysis/forward/growing_calls.h"
#include "analysis/steps/loop_span.h"

namespace batchlight::advice {

void GenerationWithoutCache(const RunMeasures& run, Findings* findings) {
  const ProcessSteps* main = run.steps.Main();
  if (main == nullptr || main->steps.empty() || run.inputs == nullptr) return;
  const GrowingCalls found = FindGrowingCalls(*run.store, *main, run.inputs->marks);
  if (found.calls == 0) return;
  const double loop_ns = SpanOfLoop(main->steps).whole_ns();
  if (double(found.span_ns) < kGrowingShare * loop_ns) return;
  const bool on_gpu = found.calling_ns > 0;
  const double gain_ns = on_gpu ? double(found.work_ns - found.calling_ns) * kCacheGain
                                : double(found.work_ns) * kCacheCpuGain;
  if (gain_ns < kGrowingGain * loop_ns) return;
  const std::string name(run.store->Text(found.class_name));
  findings->push_back(
      {.title = "`" + name + "` generates without a KV cache",
       .seen = std::to_string(found.calls) + " calls without gradients, " +
               MeanCountText(double(found.calls) / double(found.rows)) +
               " in a row, each work on one position more than the call before, " +
               Rounded(found.positions) + " in the mean; they take " +
               TimeOf(double(found.span_ns)) + ".",
       .why = "For each new position all positions before it go through the model again; their "
              "keys and values were known from the call before.",
       .action = "Generate with a cache: model.generate(use_cache=True), or give each call only "
                 "the newest position and past_key_values of the one before" +
                 std::string(on_gpu ? ". What is left is mostly the CPU's time to launch; a "
                                      "static cache lets a CUDA graph take that too."
                                    : "."),
       .evidence = {{.kind = "module", .name = name, .count = found.calls}},
       .run_gain_ns = gain_ns,
       .run_uncertainty_ns = double(found.work_ns) * kCacheUncertainty,
       .patch = {.place = "",
                 .diff = "-logits = model(input_ids=ids).logits[:, -1]\n"
                         "+out = model(input_ids=newest, past_key_values=cache, use_cache=True)\n"
                         "+logits, cache = out.logits[:, -1], out.past_key_values\n"}});
}

}  // namespace batchlight::advice
