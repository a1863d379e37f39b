#include "analysis/steps/step_key.h"

namespace batchlight {
namespace {

class KeyCalls {
 public:
  KeyCalls(const Store& store, const std::vector<ThreadId>& threads)
      : store_(store), threads_(threads) {}

  // The first kind of call that has any of that name.
  std::vector<KeyEnd> Named(StringId name) const {
    std::vector<KeyEnd> ends;
    const auto try_table = [&](const auto& table, const std::vector<StringId>& names) {
      if (!ends.empty() || name.IsNone()) return;
      Collect(
          table, [&](uint32_t row) { return names[row] == name; }, &ends);
    };
    try_table(store_.nvtx_ranges, store_.nvtx_ranges.message);
    try_table(store_.phase_calls, store_.phase_calls.name);
    try_table(store_.operator_calls, store_.operator_calls.name);
    try_table(store_.module_calls, store_.module_calls.path);
    return ends;
  }

  // Operators of that name with the module innermost around them, or calls of the module itself.
  std::vector<KeyEnd> InModule(StringId path, StringId name) const {
    std::vector<KeyEnd> ends;
    if (path.IsNone() || name.IsNone()) return ends;
    const ModuleCallsTable& modules = store_.module_calls;
    const OperatorCallsTable& operators = store_.operator_calls;
    const IntervalIndex around(modules.thread, modules.start_ns, modules.end_ns);
    const auto in_module = [&](uint32_t row) {
      if (operators.name[row] != name) return false;
      const uint32_t module = around.Innermost(operators.thread[row], operators.start_ns[row]);
      return module != kNoRow && modules.path[module] == path;
    };
    Collect(operators, in_module, &ends);
    if (!ends.empty()) return ends;
    const auto is_module = [&](uint32_t row) {
      return modules.path[row] == path && modules.class_name[row] == name;
    };
    Collect(modules, is_module, &ends);
    return ends;
  }

 private:
  template <typename Table, typename Wanted>
  void Collect(const Table& table, const Wanted& wanted, std::vector<KeyEnd>* ends) const {
    const ThreadSpans spans(table.thread);
    for (const ThreadId thread : threads_) {
      const ThreadSpans::Rows rows = spans.Of(thread);
      for (uint32_t row = rows.begin; row < rows.end; ++row) {
        if (wanted(row) && table.end_ns[row] != kOpenEnd) {
          ends->push_back({table.end_ns[row], thread});
        }
      }
    }
  }

  const Store& store_;
  const std::vector<ThreadId>& threads_;
};

}  // namespace

std::vector<KeyEnd> EndsOfKey(const StepInputs& inputs, ProcessId process, const std::string& key) {
  const StringPool& strings = inputs.store.strings;
  const KeyCalls calls(inputs.store, inputs.threads_of_process[process.row()]);
  std::vector<KeyEnd> ends = calls.Named(strings.Find(key));
  // "AdamW.step", as the summary calls it.
  if (ends.empty()) ends = calls.Named(strings.Find("Optimizer.step#" + key));
  for (size_t slash = key.find('/'); ends.empty() && slash != std::string::npos;
       slash = key.find('/', slash + 1)) {
    ends = calls.InModule(strings.Find(key.substr(0, slash)), strings.Find(key.substr(slash + 1)));
  }
  return ends;
}

}  // namespace batchlight
