// The GIL, which one thread of Python has at a time.
#include <algorithm>
#include <string>

#include "analysis/advice/advice_text.h"
#include "analysis/advice/rules.h"
#include "analysis/lines/code_samples.h"
#include "analysis/python/gil_waits.h"

namespace batchlight::advice {
namespace {

// "`count_up` (fight.py:14) of thread loader"
std::string HolderText(const Store& store, const GilHolder& holder) {
  std::string text;
  if (!holder.function.IsNone()) {
    const std::string_view file = store.Text(holder.file);
    text = "`" + std::string(store.Text(holder.function)) + "` (" +
           std::string(file.substr(file.rfind('/') + 1)) + ":" + std::to_string(holder.line) + ")";
  }
  if (holder.thread.IsNone()) return text.empty() ? "a thread that is not known" : text;
  const std::string_view name = store.Text(store.threads.name[holder.thread.row()]);
  return text + (text.empty() ? "" : " of ") + "thread " +
         (name.empty() ? std::to_string(store.threads.tid[holder.thread.row()])
                       : std::string(name));
}

}  // namespace

void GilWait(const RunMeasures& run, Findings* findings) {
  const ProcessSteps* main = run.steps.Main();
  if (main == nullptr || main->steady.empty() || main->thread.IsNone()) return;
  const TimeSpan span{main->steps[main->steady.front()].start_ns,
                      main->steps[main->steady.back()].end_ns};
  const std::vector<GilWaits> all = FindGilWaits(*run.store, span);
  const auto waits = std::find_if(all.begin(), all.end(),
                                  [&](const GilWaits& of) { return of.thread == main->thread; });
  if (waits == all.end() || waits->Share() < kGilWait) return;
  const GilHolder& first = waits->holders.front();
  const double wait_ns = waits->Share() * MeanStepNs(run);
  const double exposed_ns = wait_ns * CpuExposure(run);
  const std::string holder = HolderText(*run.store, first);
  findings->push_back(
      {.title =
           "The training thread waits for the GIL in " + PercentOf(waits->Share()) + " of a step",
       .seen = "Looks from outside find it waiting for " + TimeOf(wait_ns) + " of a step; in " +
               PercentOf(double(first.ns) / double(waits->waited_ns)) + " of that time " + holder +
               " had the GIL.",
       .why =
           "One thread at a time runs Python. Who computes in Python gives the GIL up only every "
           "5 ms, when it is asked, and the training launches nothing meanwhile.",
       .action =
           "Do that work in a process of its own (DataLoader workers, multiprocessing), or in "
           "calls that release the GIL (NumPy, PyTorch, files). sys.setswitchinterval(0.0005) "
           "shortens each wait where the thread must stay.",
       .gain_ns = exposed_ns * kGilWaitGain,
       .uncertainty_ns = exposed_ns * kGilWaitUncertainty,
       .evidence = {{.kind = "function",
                     .name = holder,
                     .per_step_ns = wait_ns,
                     .event = EventOfFunction(run.store->Text(first.function))}}});
}

}  // namespace batchlight::advice
