#include "analysis/dlprof/model.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <unordered_map>

#include "analysis/cuda/kernel_class.h"
#include "analysis/gpu/gpu_intervals.h"
#include "analysis/owners/engine_call.h"
#include "analysis/phases/phase_kind.h"
#include "analysis/phases/phase_marks.h"
#include "analysis/roofline/operator_cost.h"
#include "analysis/steps/step_lookup.h"
#include "store/interval_index.h"

namespace batchlight::dlprof {
namespace {

constexpr uint32_t kNoOp = UINT32_MAX;

// One call of an op node while its work is being added up.
struct Instance {
  uint32_t op = kNoOp;
  int64_t start_ns = 0;
  int64_t cpu_ns = 0;
  int64_t gpu_ns = 0;
  int64_t overhead_ns = 0;
  int64_t first_ns = kOpenEnd;
  int64_t last_ns = 0;
  bool of_nobody = false;  // no call: its pieces have nothing to do with each other
};

class ModelBuilder {
 public:
  ModelBuilder(const RunOverview& overview, const ModelOptions& options)
      : store_(*overview.store),
        options_(options),
        steps_(overview.steps),
        links_(overview.links),
        work_(overview.work),
        modules_(store_.module_calls.thread, store_.module_calls.start_ns,
                 store_.module_calls.end_ns) {}

  Result<Model> Build() {
    FindIterations();
    if (options_.use_domain) RETURN_IF_ERROR(FindDomain());
    if (options_.simple) {
      AddIterationInstances();
    } else if (options_.use_domain) {
      AddRangeInstances();
    } else if (store_.operator_calls.size() > 0) {
      AddOperatorInstances();
    } else if (store_.module_calls.size() > 0 && !HasOperatorRanges()) {
      AddModuleInstances();
    } else {
      AddRangeInstances();
    }
    AddApiTime();
    AddWork();
    AddGraphs();
    FinishInstances();
    AddTotals();
    SortOps();
    return std::move(model_);
  }

 private:
  void FindIterations() {
    if (const ProcessSteps* main = steps_.Main()) {
      iteration_steps_ = main->steps;
    } else {
      iteration_steps_ = {{.end_ns = std::max<int64_t>(store_.duration_ns, 1)}};
      Say("no iterations were found: the whole run counts as one. Set --key_node");
    }
    for (const Step& step : iteration_steps_) {
      model_.iterations.push_back(
          {static_cast<int64_t>(model_.iterations.size()), step.start_ns, step.end_ns, false});
    }
    const int64_t last = static_cast<int64_t>(model_.iterations.size()) - 1;
    model_.first_iteration = std::clamp<int64_t>(options_.first_iteration, 0, last);
    model_.last_iteration = std::clamp<int64_t>(options_.last_iteration, 0, last);
    if (options_.first_iteration > last) {
      model_.first_iteration = 0;
      model_.last_iteration = last;
    }
    const bool cut = options_.last_iteration > last && options_.last_iteration != INT64_MAX;
    if (steps_.problem.empty() && (cut || options_.first_iteration != model_.first_iteration)) {
      Say("the run has iterations 0 to " + std::to_string(last) + "; the reports are about " +
          std::to_string(model_.first_iteration) + " to " + std::to_string(model_.last_iteration));
    }
    CountIterations();
  }

  // Of a range that was asked for every iteration counts; else those that count in all views, which
  // warm-up, compilation and the like do not.
  void CountIterations() {
    const bool from = options_.first_iteration > 0 &&
                      options_.first_iteration < static_cast<int64_t>(model_.iterations.size());
    const bool asked = from || options_.last_iteration != INT64_MAX;
    const ProcessSteps* main = steps_.Main();
    std::vector<bool> counts(model_.iterations.size(), asked || main == nullptr);
    if (!asked && main != nullptr) {
      for (const uint32_t row : main->steady) counts[row] = true;
    }
    int64_t first = -1;
    int64_t last = 0;
    for (Iteration& iteration : model_.iterations) {
      iteration.inside = counts[static_cast<size_t>(iteration.number)] &&
                         iteration.number >= model_.first_iteration &&
                         iteration.number <= model_.last_iteration;
      if (!iteration.inside) continue;
      if (first < 0) first = iteration.number;
      last = iteration.number;
      ++model_.counted_iterations;
      model_.range_ns += iteration.end_ns - iteration.start_ns;
    }
    model_.first_iteration = std::max<int64_t>(0, first);
    model_.last_iteration = last;
  }

  void Say(const std::string& sentence) {
    if (!model_.notice.empty()) model_.notice += ". ";
    model_.notice += sentence;
  }

  // Number of the iteration inside the range that holds the moment, or -1.
  int64_t IterationAt(int64_t time_ns) const {
    const size_t row = StepLookup::Around(iteration_steps_, time_ns);
    return row != StepLookup::kNone && model_.iterations[row].inside ? static_cast<int64_t>(row)
                                                                     : -1;
  }

  uint32_t OpFor(const std::string& group, std::string_view type, bool backward) {
    const std::string name = group.empty() ? std::string(type) : group + "/" + std::string(type);
    return OpNamed(name, std::string(type), group, backward);
  }

  uint32_t OpNamed(const std::string& name, const std::string& type, const std::string& group,
                   bool backward) {
    const std::string key = name + (backward ? "\n<" : "\n>");
    const auto [found, added] = known_.try_emplace(key, static_cast<uint32_t>(model_.ops.size()));
    if (added) {
      OpNode op;
      op.name = name;
      op.type = type;
      op.group = group;
      op.direction = backward ? "bprop" : "fprop";
      model_.ops.push_back(std::move(op));
    }
    return found->second;
  }

  // Ranges of the user and the engine's wrappers are no operators: what they call is.
  bool IsWrapper(uint32_t call) const {
    return store_.operator_calls.scope[call] == OperatorScope::kUser ||
           store_.Text(store_.operator_calls.name[call]).starts_with(kEngineCall);
  }

  std::string ModulePath(uint32_t call) const {
    const OperatorCallsTable& calls = store_.operator_calls;
    uint32_t at = call;
    const OperatorCallId forward = links_.ForwardOf(OperatorCallId::At(call));
    if (!forward.IsNone()) at = forward.value;
    return ModuleAt(calls.thread[at], calls.start_ns[at]);
  }

  std::string ModuleAt(ThreadId thread, int64_t time_ns) const {
    const uint32_t module = modules_.Innermost(thread, time_ns);
    return module == kNoRow ? "" : std::string(store_.Text(store_.module_calls.path[module]));
  }

  // Everything under one op, which is called once in each iteration.
  void AddIterationInstances() {
    const uint32_t op =
        OpNamed("SIMPLE_MODE_GLOBAL_NODE", "SIMPLE_MODE_GLOBAL_NODE_OP_TYPE_1", "", false);
    iteration_instance_.assign(model_.iterations.size(), kNoOp);
    for (const Iteration& iteration : model_.iterations) {
      if (!iteration.inside) continue;
      iteration_instance_[static_cast<size_t>(iteration.number)] =
          AddInstance(op, iteration.start_ns, iteration.end_ns);
    }
    const ApiCallsTable& calls = store_.api_calls;
    for (uint32_t call = 0; call < calls.size(); ++call) {
      const int64_t iteration = IterationAt(calls.start_ns[call]);
      if (iteration < 0 || calls.end_ns[call] == kOpenEnd) continue;
      const uint32_t at = iteration_instance_[static_cast<size_t>(iteration)];
      instances_[at].overhead_ns += calls.end_ns[call] - calls.start_ns[call];
    }
  }

  void AddOperatorInstances() {
    const OperatorCallsTable& calls = store_.operator_calls;
    op_instance_.assign(calls.size(), kNoOp);
    for (uint32_t call = 0; call < calls.size(); ++call) {
      const OperatorCallId parent = calls.parent[call];
      const uint32_t outer = parent.IsNone() ? kNoOp : op_instance_[parent.row()];
      if (outer != kNoOp) {
        op_instance_[call] = outer;
        NoteInputs(instances_[outer].op, call);
        continue;
      }
      if (IsWrapper(call) || IterationAt(calls.start_ns[call]) < 0) continue;
      const bool backward = links_.IsInBackward(OperatorCallId::At(call));
      const uint32_t op = OpFor(ModulePath(call), store_.Text(calls.name[call]), backward);
      op_instance_[call] = AddInstance(op, calls.start_ns[call], calls.end_ns[call]);
      NoteInputs(op, call);
    }
  }

  void NoteInputs(uint32_t op, uint32_t call) {
    const OperatorCallsTable& calls = store_.operator_calls;
    const OperatorCost cost =
        EstimateOperatorCost(store_.Text(calls.name[call]), store_.Text(calls.inputs[call]));
    OpNode& node = model_.ops[op];
    node.eligible |= cost.matrix || IsMatrixOperator(store_.Text(calls.name[call]));
    if (node.data_type.empty()) node.data_type = std::string(cost.dtype);
  }

  // The same domain of several processes has a row for each.
  Status FindDomain() {
    if (options_.domain == "default") return {};
    std::set<std::string_view> known = {"default"};
    for (const StringId name : store_.nvtx_domains.name) known.insert(store_.Text(name));
    if (known.contains(options_.domain)) return {};
    std::string all;
    for (const std::string_view name : known) all += (all.empty() ? "" : ", ") + std::string(name);
    return UsageError("--domains: no domain " + options_.domain + "; there are: " + all);
  }

  bool IsWantedDomain(NvtxDomainId domain) const {
    if (!options_.use_domain) return true;
    if (domain.IsNone()) return options_.domain == "default";
    return store_.Text(store_.nvtx_domains.name[domain.row()]) == options_.domain;
  }

  // Whether operators were recorded as ranges, by torch.autograd.profiler.emit_nvtx.
  bool HasOperatorRanges() const {
    const auto& messages = store_.nvtx_ranges.message;
    return std::any_of(messages.begin(), messages.end(), [&](StringId message) {
      return store_.Text(message).starts_with("aten::");
    });
  }

  // "step 12" -> "step", where that is what the steps were found by: one op, not one a step.
  std::string_view WithoutStepNumber(std::string_view text) const {
    const ProcessSteps* main = steps_.Main();
    if (main == nullptr || main->marker.empty() || !text.starts_with(main->marker)) return text;
    const bool only_number =
        text.find_first_not_of(" 0123456789", main->marker.size()) == std::string_view::npos;
    return only_number ? text.substr(0, main->marker.size()) : text;
  }

  void AddRangeInstances() {
    const NvtxRangesTable& ranges = store_.nvtx_ranges;
    range_instance_.assign(ranges.size(), kNoOp);
    std::vector<bool> backward(ranges.size());
    for (uint32_t row = 0; row < ranges.size(); ++row) {
      if (!IsWantedDomain(ranges.domain[row]) || IterationAt(ranges.start_ns[row]) < 0) continue;
      const std::string_view text = WithoutStepNumber(store_.Text(ranges.message[row]));
      const std::string_view type = text.substr(0, text.find(", seq = "));
      const NvtxRangeId parent = ranges.parent[row];
      backward[row] = text.find("Backward") != text.npos ||
                      PhaseOfRangeName(text) == PhaseKind::kBackward ||
                      (!parent.IsNone() && backward[parent.row()]);
      const uint32_t op =
          OpFor(ModuleAt(ranges.thread[row], ranges.start_ns[row]), type, backward[row]);
      range_instance_[row] = InstanceAround(ranges, range_instance_, row, op);
      if (range_instance_[row] != kNoOp) continue;
      range_instance_[row] = AddInstance(op, ranges.start_ns[row], ranges.end_ns[row]);
      model_.ops[op].eligible |= IsMatrixOperator(type);
    }
  }

  // Without operators the modules are the ops, and what traced calls of the loop (the optimizer's
  // step, backward) launch outside of them.
  void AddModuleInstances() {
    const ModuleCallsTable& modules = store_.module_calls;
    module_instance_.assign(modules.size(), kNoOp);
    for (uint32_t row = 0; row < modules.size(); ++row) {
      if (IterationAt(modules.start_ns[row]) < 0) continue;
      const uint32_t op = OpFor(std::string(store_.Text(modules.path[row])),
                                store_.Text(modules.class_name[row]), false);
      module_instance_[row] = InstanceAround(modules, module_instance_, row, op);
      if (module_instance_[row] != kNoOp) continue;
      module_instance_[row] = AddInstance(op, modules.start_ns[row], modules.end_ns[row]);
    }
    const PhaseCallsTable& phases = store_.phase_calls;
    phase_instance_.assign(phases.size(), kNoOp);
    for (uint32_t row = 0; row < phases.size(); ++row) {
      if (IterationAt(phases.start_ns[row]) < 0 || IsOutsideOfLoops(phases.phase[row])) continue;
      const uint32_t op =
          OpFor("", store_.Text(phases.name[row]), phases.phase[row] == Phase::kBackward);
      phase_instance_[row] = AddInstance(op, phases.start_ns[row], phases.end_ns[row]);
    }
  }

  // The instance of the same op that the row is inside of; kNoOp: none. What calls itself is one
  // call, the outer one.
  template <typename Table>
  uint32_t InstanceAround(const Table& table, const std::vector<uint32_t>& instance_of,
                          uint32_t row, uint32_t op) const {
    for (auto at = table.parent[row]; !at.IsNone(); at = table.parent[at.row()]) {
      const uint32_t instance = instance_of[at.row()];
      if (instance != kNoOp && instances_[instance].op == op) return instance;
    }
    return kNoOp;
  }

  uint32_t AddInstance(uint32_t op, int64_t start_ns, int64_t end_ns) {
    Instance instance;
    instance.op = op;
    instance.start_ns = start_ns;
    instance.cpu_ns = std::max<int64_t>(0, std::min(end_ns, store_.duration_ns) - start_ns);
    instances_.push_back(instance);
    return static_cast<uint32_t>(instances_.size() - 1);
  }

  uint32_t InstanceOf(const WorkOwner& owner) const {
    for (NvtxRangeId range = owner.range; !range_instance_.empty() && !range.IsNone();
         range = store_.nvtx_ranges.parent[range.row()]) {
      if (range_instance_[range.row()] != kNoOp) return range_instance_[range.row()];
    }
    if (!op_instance_.empty() && !owner.op.IsNone()) return op_instance_[owner.op.row()];
    if (!module_instance_.empty() && !owner.module.IsNone()) {
      return module_instance_[owner.module.row()];
    }
    if (!phase_instance_.empty() && !owner.phase.IsNone())
      return phase_instance_[owner.phase.row()];
    return kNoOp;
  }

  void AddApiTime() {
    AddApiTime(store_.nvtx_ranges, range_instance_);
    AddApiTime(store_.operator_calls, op_instance_);
    AddApiTime(store_.module_calls, module_instance_);
    AddApiTime(store_.phase_calls, phase_instance_);
  }

  // Adds each CUDA call to the innermost instance of `table` around it.
  template <typename Table>
  void AddApiTime(const Table& table, const std::vector<uint32_t>& instance_of) {
    if (instance_of.empty()) return;
    const IntervalIndex index(table.thread, table.start_ns, table.end_ns,
                              [&](uint32_t row) { return instance_of[row] == kNoOp; });
    const ApiCallsTable& calls = store_.api_calls;
    for (uint32_t call = 0; call < calls.size(); ++call) {
      const uint32_t row = index.Innermost(calls.thread[call], calls.start_ns[call]);
      if (row == kNoRow || calls.end_ns[call] == kOpenEnd) continue;
      instances_[instance_of[row]].overhead_ns += calls.end_ns[call] - calls.start_ns[call];
    }
  }

  // Its call's start, else its own.
  template <typename Table>
  int64_t LaunchTime(const Table& table, size_t row) const {
    const ApiCallId call = table.api_call[row];
    return call.IsNone() ? table.start_ns[row] : store_.api_calls.start_ns[call.row()];
  }

  // An op node for work that no instance launched: of the module or traced call around it, once for
  // each of their calls, or of nobody, once for each iteration.
  uint32_t InstanceOutside(const WorkOwner& owner, int64_t launch_ns) {
    const int64_t iteration = IterationAt(launch_ns);
    if (iteration < 0) return kNoOp;
    if (options_.simple) return iteration_instance_[static_cast<size_t>(iteration)];
    if (options_.use_domain) return kNoOp;
    // The operator is there, but began outside of the range.
    if (!owner.op.IsNone() && !op_instance_.empty() && !IsWrapper(owner.op.value)) return kNoOp;
    uint64_t key = static_cast<uint64_t>(iteration);
    if (!owner.module.IsNone()) {
      key = uint64_t{1} << 62 | owner.module.value;
    } else if (!owner.phase.IsNone()) {
      key = uint64_t{1} << 63 | owner.phase.value;
    }
    const auto [found, added] = outside_.try_emplace(key, kNoOp);
    if (added) found->second = AddOutside(owner, launch_ns);
    return found->second;
  }

  uint32_t AddOutside(const WorkOwner& owner, int64_t launch_ns) {
    if (!owner.module.IsNone()) {
      const ModuleCallsTable& modules = store_.module_calls;
      const size_t row = owner.module.row();
      const uint32_t op = OpFor(std::string(store_.Text(modules.path[row])),
                                store_.Text(modules.class_name[row]), owner.backward);
      return AddInstance(op, modules.start_ns[row], modules.end_ns[row]);
    }
    if (!owner.phase.IsNone()) {
      const PhaseCallsTable& phases = store_.phase_calls;
      const size_t row = owner.phase.row();
      const uint32_t op = OpFor("", store_.Text(phases.name[row]), owner.backward);
      return AddInstance(op, phases.start_ns[row], phases.end_ns[row]);
    }
    const uint32_t added = AddInstance(OpFor("", kNoOpName, false), launch_ns, launch_ns);
    instances_[added].of_nobody = true;
    return added;
  }

  template <typename Table>
  uint32_t AddPiece(const Table& table, size_t row, const WorkOwner& owner) {
    uint32_t at = InstanceOf(owner);
    if (at == kNoOp) at = InstanceOutside(owner, LaunchTime(table, row));
    if (at == kNoOp) return kNoOp;
    Instance& instance = instances_[at];
    instance.gpu_ns += table.end_ns[row] - table.start_ns[row];
    instance.first_ns = std::min(instance.first_ns, table.start_ns[row]);
    instance.last_ns = std::max(instance.last_ns, table.end_ns[row]);
    return at;
  }

  void AddWork() {
    std::unordered_map<StringId, bool> tensor_core;
    std::vector<std::set<StringId>> names;
    for (uint32_t row = 0; row < store_.kernels.size(); ++row) {
      const uint32_t at = AddPiece(store_.kernels, row, work_.kernels[row]);
      if (at == kNoOp) continue;
      const StringId name = store_.kernels.demangled_name[row];
      const auto [found, added] = tensor_core.try_emplace(name, false);
      if (added) {
        found->second = ClassifyKernel(store_.Text(name)).tensor_core == TensorCoreUse::kYes;
      }
      const uint32_t op = instances_[at].op;
      names.resize(model_.ops.size());  // work of nobody adds ops
      AddKernel(model_.ops[op], row, found->second, names[op].insert(name).second);
      const int64_t iteration = std::max<int64_t>(0, IterationAt(instances_[at].start_ns));
      model_.kernels.push_back({row, op, static_cast<uint32_t>(iteration), found->second});
    }
    for (size_t row = 0; row < store_.memcpys.size(); ++row) {
      if (AddPiece(store_.memcpys, row, work_.memcpys[row]) != kNoOp) {
        model_.memory_ns += store_.memcpys.end_ns[row] - store_.memcpys.start_ns[row];
      }
    }
    for (size_t row = 0; row < store_.memsets.size(); ++row) {
      if (AddPiece(store_.memsets, row, work_.memsets[row]) != kNoOp) {
        model_.memory_ns += store_.memsets.end_ns[row] - store_.memsets.start_ns[row];
      }
    }
  }

  void AddGraphs() {
    const GraphLaunchesTable& graphs = store_.graph_launches;
    for (size_t row = 0; row < graphs.size(); ++row) {
      if (AddPiece(graphs, row, work_.graph_launches[row]) != kNoOp) {
        model_.graph_ns += graphs.end_ns[row] - graphs.start_ns[row];
      }
    }
  }

  void AddKernel(OpNode& op, uint32_t row, bool tensor_core, bool new_name) {
    ++op.kernel_count;
    const int64_t duration_ns = store_.kernels.end_ns[row] - store_.kernels.start_ns[row];
    if (tensor_core) {
      op.uses_tensor_cores = op.eligible = true;
      ++op.tensor_core_kernel_count;
      op.tensor_core_ns += duration_ns;
    }
    if (!new_name) return;
    const std::string_view name = store_.Text(store_.kernels.short_name[row]);
    (tensor_core ? op.tensor_core_kernels : op.other_kernels).emplace_back(name);
  }

  void FinishInstances() {
    for (const Instance& instance : instances_) {
      OpNode& op = model_.ops[instance.op];
      op.cpu.Add(instance.cpu_ns);
      op.gpu.Add(instance.gpu_ns);
      op.overhead.Add(instance.overhead_ns);
      const bool any = instance.first_ns != kOpenEnd && !instance.of_nobody;
      op.idle.Add(any ? std::max<int64_t>(0, instance.last_ns - instance.first_ns - instance.gpu_ns)
                      : 0);
    }
  }

  void AddTotals() {
    for (const DeviceWork& device : CollectDeviceWork(store_)) {
      std::vector<TimeSpan> all;
      for (const auto& spans : device.work) all = UniteSpans(all, spans);
      for (const Iteration& iteration : model_.iterations) {
        if (iteration.inside) {
          model_.gpu_busy_ns += NsInside(all, iteration.start_ns, iteration.end_ns);
        }
      }
    }
    const PhaseCallsTable& phases = store_.phase_calls;
    for (size_t row = 0; row < phases.size(); ++row) {
      if (phases.phase[row] == Phase::kDataLoaderNext && phases.end_ns[row] != kOpenEnd &&
          IterationAt(phases.start_ns[row]) >= 0) {
        model_.data_loading_ns += phases.end_ns[row] - phases.start_ns[row];
      }
    }
  }

  void SortOps() {
    std::vector<uint32_t> order(model_.ops.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      const OpNode& x = model_.ops[a];
      const OpNode& y = model_.ops[b];
      if (x.gpu.total_ns != y.gpu.total_ns) return x.gpu.total_ns > y.gpu.total_ns;
      return x.cpu.total_ns > y.cpu.total_ns;
    });
    std::vector<uint32_t> place(order.size());
    std::vector<OpNode> sorted;
    for (uint32_t i = 0; i < order.size(); ++i) {
      place[order[i]] = i;
      sorted.push_back(std::move(model_.ops[order[i]]));
    }
    model_.ops = std::move(sorted);
    for (KernelInstance& kernel : model_.kernels) kernel.op = place[kernel.op];
  }

  const Store& store_;
  const ModelOptions& options_;
  const StepSet& steps_;
  const BackwardLinks& links_;
  const Attribution& work_;
  IntervalIndex modules_;
  std::vector<Step> iteration_steps_;  // row for row model_.iterations
  Model model_;
  std::unordered_map<std::string, uint32_t> known_;
  std::unordered_map<uint64_t, uint32_t> outside_;
  std::vector<Instance> instances_;
  // By row of the table; empty where the ops are made of other tables.
  std::vector<uint32_t> op_instance_, range_instance_, module_instance_, phase_instance_;
  std::vector<uint32_t> iteration_instance_;  // of the simple mode
};

}  // namespace

void Spread::Add(int64_t value_ns) {
  min_ns = count == 0 ? value_ns : std::min(min_ns, value_ns);
  max_ns = std::max(max_ns, value_ns);
  total_ns += value_ns;
  ++count;
}

Result<Model> BuildModel(const RunOverview& overview, const ModelOptions& options) {
  return ModelBuilder(overview, options).Build();
}

}  // namespace batchlight::dlprof
