#include "analysis/advice/gpu/module_of_kernels.h"

#include <algorithm>
#include <map>

#include "analysis/steps/step_lookup.h"

namespace batchlight::advice {

std::string ModuleOfKernels::Text(const Store& store) const {
  return '`' + std::string(store.Text(path)) + "` (" + std::string(store.Text(class_name)) + ')';
}

ModuleOfKernels FindModuleOfKernels(const RunMeasures& run,
                                    const std::function<double(size_t row)>& weight) {
  const KernelsTable& kernels = run.store->kernels;
  const ModuleCallsTable& modules = run.store->module_calls;
  std::map<StringId, ModuleOfKernels> by_path;
  double all = 0;
  StepLookup lookup(run.steps.Main());
  for (size_t row = 0; row < run.work.kernels.size(); ++row) {
    if (!lookup.IsSteadyAt(kernels.start_ns[row])) continue;
    const double of_kernel = weight(row);
    if (of_kernel < 0) continue;
    all += of_kernel;
    const ModuleCallId call = run.work.kernels[row].module;
    if (call.IsNone()) continue;
    ModuleOfKernels& module = by_path[modules.path[call.row()]];
    module.class_name = modules.class_name[call.row()];
    module.share += of_kernel;
    const auto ns = double(kernels.end_ns[row] - kernels.start_ns[row]);
    module.ns += ns;
    module.ns_of_ns += ns * ns;
  }
  const auto most = std::max_element(
      by_path.begin(), by_path.end(),
      [](const auto& a, const auto& b) { return a.second.share < b.second.share; });
  if (by_path.size() < 2 || 2 * most->second.share < all) return {};
  most->second.path = most->first;
  most->second.share /= all;
  return most->second;
}

}  // namespace batchlight::advice
