#include "analysis/gpu/gpu_intervals.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "analysis/cuda/kernel_class.h"

namespace batchlight {
namespace {

class Collector {
 public:
  explicit Collector(const Store& store) : store_(store) {}

  std::vector<DeviceWork> Collect() {
    AddKernels();
    const MemcpysTable& copies = store_.memcpys;
    for (size_t i = 0; i < copies.size(); ++i) {
      Add(copies.process[i], copies.device[i], GpuWork::kCopy, copies.start_ns[i],
          copies.end_ns[i]);
    }
    const MemsetsTable& sets = store_.memsets;
    for (size_t i = 0; i < sets.size(); ++i) {
      Add(sets.process[i], sets.device[i], GpuWork::kMemset, sets.start_ns[i], sets.end_ns[i]);
    }
    std::vector<DeviceWork> found;
    for (auto& [key, work] : devices_) found.push_back(std::move(work));
    SetMainStreams(found);
    return found;
  }

 private:
  void Add(ProcessId process, uint32_t device, GpuWork kind, int64_t start_ns, int64_t end_ns) {
    if (last_ == nullptr || last_->process != process || last_->device != device) {
      last_ = &devices_[{process, device}];
      last_->process = process;
      last_->device = device;
    }
    AddSpan(last_->work[static_cast<size_t>(kind)], start_ns, end_ns);
  }

  // Kernels and graph launches share a class, so that they have to be added in order of start.
  void AddKernels() {
    const KernelsTable& kernels = store_.kernels;
    const GraphLaunchesTable& graphs = store_.graph_launches;
    size_t graph = 0;
    for (size_t i = 0; i < kernels.size(); ++i) {
      for (; graph < graphs.size() && graphs.start_ns[graph] <= kernels.start_ns[i]; ++graph) {
        AddGraph(graph);
      }
      const GpuWork kind = KindOf(kernels.demangled_name[i]);
      Add(kernels.process[i], kernels.device[i], kind, kernels.start_ns[i], kernels.end_ns[i]);
      if (kind != GpuWork::kCommunication) {
        AddToStream(kernels.process[i], kernels.device[i], kernels.stream[i], kernels.start_ns[i],
                    kernels.end_ns[i]);
      }
    }
    for (; graph < graphs.size(); ++graph) AddGraph(graph);
  }
  void AddGraph(size_t row) {
    const GraphLaunchesTable& graphs = store_.graph_launches;
    Add(graphs.process[row], graphs.device[row], GpuWork::kGraph, graphs.start_ns[row],
        graphs.end_ns[row]);
    AddToStream(graphs.process[row], graphs.device[row], graphs.stream[row], graphs.start_ns[row],
                graphs.end_ns[row]);
  }

  void AddToStream(ProcessId process, uint32_t device, uint32_t stream, int64_t start_ns,
                   int64_t end_ns) {
    if (end_ns <= start_ns || end_ns == kOpenEnd) return;
    const StreamKey key = {process, device, stream};
    RecentStream& recent = recent_[(stream + device * 7 + process.value * 31) % kRecent];
    if (recent.time_ns == nullptr || recent.key != key) recent = {key, &streams_[key]};
    *recent.time_ns += end_ns - start_ns;
  }
  void SetMainStreams(std::vector<DeviceWork>& found) const {
    for (DeviceWork& work : found) {
      int64_t longest_ns = 0;
      for (auto at = streams_.lower_bound({work.process, work.device, 0});
           at != streams_.end() && std::get<0>(at->first) == work.process &&
           std::get<1>(at->first) == work.device;
           ++at) {
        if (at->second <= longest_ns) continue;
        longest_ns = at->second;
        work.main_stream = std::get<2>(at->first);
      }
    }
  }

  GpuWork KindOf(StringId name) {
    if (kinds_.empty()) kinds_.resize(store_.strings.size() + 1, kNotLookedAt);
    GpuWork& kind = kinds_[name.IsNone() ? kinds_.size() - 1 : name.row()];
    if (kind == kNotLookedAt) kind = WorkOfKernel(store_.Text(name));
    return kind;
  }

  const Store& store_;
  std::map<std::pair<ProcessId, uint32_t>, DeviceWork> devices_;
  DeviceWork* last_ = nullptr;  // of devices_
  static constexpr auto kNotLookedAt = static_cast<GpuWork>(kGpuWorkCount);
  std::vector<GpuWork> kinds_;                                  // by string
  using StreamKey = std::tuple<ProcessId, uint32_t, uint32_t>;  // device, stream
  std::map<StreamKey, int64_t> streams_;                        // to time computed
  // Kernels of many streams take turns: where those of the last ones lie is kept.
  static constexpr size_t kRecent = 64;
  struct RecentStream {
    StreamKey key;
    int64_t* time_ns = nullptr;  // of streams_
  };
  std::array<RecentStream, kRecent> recent_;
};

}  // namespace

GpuWork WorkOfKernel(std::string_view name) {
  const KernelClass found = ClassifyKernel(name);
  if (found.kind == KernelKind::kCommunication) return GpuWork::kCommunication;
  return found.tensor_core == TensorCoreUse::kYes ? GpuWork::kTensorCore : GpuWork::kCompute;
}

std::vector<TimeSpan> BusyOf(const DeviceWork& device) {
  std::vector<TimeSpan> busy;
  for (const std::vector<TimeSpan>& work : device.work) {
    if (!work.empty()) busy = busy.empty() ? work : UniteSpans(busy, work);
  }
  return busy;
}

std::vector<DeviceWork> CollectDeviceWork(const Store& store) { return Collector(store).Collect(); }

}  // namespace batchlight
