#include "analysis/advice/module_callers.h"

#include <cstdint>
#include <map>
#include <optional>

#include "analysis/lines/code_samples.h"
#include "analysis/lines/source_place.h"
#include "analysis/steps/step_lookup.h"
#include "store/store.h"

namespace batchlight::advice {
namespace {

// "Module._call_impl" of torch/nn/modules/module.py, one on the stack for each module called;
// without the class before Python 3.11. From PyTorch 2 on Module._wrapped_call_impl calls it.
bool IsModuleCall(const Store& store, const PythonFramesRow& frame) {
  const std::string_view function = store.Text(frame.function);
  return (function == "_call_impl" || function.ends_with("._call_impl")) &&
         store.Text(frame.file).ends_with("nn/modules/module.py");
}

class Callers {
 public:
  explicit Callers(const Store& store) : store_(store) {}

  // Of the module that `depth` others call, one by the other.
  void Add(const CodeLook& look, uint32_t depth) {
    uint32_t left = CallsOn(look.stack);
    if (left <= depth) return;
    left -= depth;
    for (PythonStackId stack = look.stack; !stack.IsNone();
         stack = store_.python_stacks.parent[stack.row()]) {
      const PythonFrameId frame = store_.python_stacks.frame[stack.row()];
      if (frame.IsNone()) continue;
      const PythonFramesRow place = store_.python_frames.Row(frame.row());
      if (left > 0) {
        left -= IsModuleCall(store_, place);
      } else if (OwnerOfSource(store_, store_.Text(place.file)) == SourceOwner::kUser) {
        ns_[{store_.Text(place.file), place.line}] += look.ns;
        return;
      }
    }
  }

  std::string Most() const {
    const std::pair<const std::pair<std::string_view, uint32_t>, int64_t>* most = nullptr;
    for (const auto& entry : ns_) {
      if (most == nullptr || entry.second > most->second) most = &entry;
    }
    if (most == nullptr) return "";
    return std::string(ShortFile(most->first.first)) + ':' + std::to_string(most->first.second);
  }

 private:
  uint32_t CallsOn(PythonStackId stack) const {
    uint32_t calls = 0;
    for (; !stack.IsNone(); stack = store_.python_stacks.parent[stack.row()]) {
      const PythonFrameId frame = store_.python_stacks.frame[stack.row()];
      if (!frame.IsNone()) calls += IsModuleCall(store_, store_.python_frames.Row(frame.row()));
    }
    return calls;
  }

  const Store& store_;
  std::map<std::pair<std::string_view, uint32_t>, int64_t> ns_;  // by file and line
};

struct CallsOfModule {
  std::vector<TimeSpan> spans;
  std::optional<uint32_t> depth;  // of the first; others are left out
};

CallsOfModule SteadyCalls(const RunMeasures& run, const ProcessSteps& main, std::string_view path) {
  const ModuleCallsTable& calls = run.store->module_calls;
  CallsOfModule found;
  StepLookup lookup(&main);
  for (size_t row = 0; row < calls.size(); ++row) {
    if (calls.thread[row] != main.thread || !lookup.IsSteadyAt(calls.start_ns[row])) continue;
    if (run.store->Text(calls.path[row]) != path) continue;
    if (!found.depth) found.depth = calls.depth[row];
    if (calls.depth[row] != *found.depth) continue;
    AddSpan(found.spans, calls.start_ns[row], calls.end_ns[row]);
  }
  return found;
}

std::string CallerIn(const RunMeasures& run, const std::vector<TimeSpan>& spans, uint32_t depth) {
  Callers callers(*run.store);
  const ThreadId thread = run.steps.Main()->thread;
  for (const CodeLook& look : CodeSamples(*run.store).LooksIn(thread, spans)) {
    callers.Add(look, depth);
  }
  return callers.Most();
}

}  // namespace

std::string CallerOfModule(const RunMeasures& run, std::string_view path) {
  const ProcessSteps* main = run.steps.Main();
  if (main == nullptr || main->thread.IsNone()) return "";
  const CallsOfModule calls = SteadyCalls(run, *main, path);
  return calls.spans.empty() ? "" : CallerIn(run, calls.spans, *calls.depth);
}

std::string CallerOfModels(const RunMeasures& run, const std::vector<TimeSpan>& spans) {
  const ProcessSteps* main = run.steps.Main();
  return main == nullptr || main->thread.IsNone() ? "" : CallerIn(run, spans, 0);
}

}  // namespace batchlight::advice
