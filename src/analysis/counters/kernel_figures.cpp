#include "analysis/counters/kernel_figures.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "analysis/counters/metrics.h"
#include "analysis/counters/operation_metrics.h"
#include "analysis/lines/line_parts.h"
#include "analysis/lines/source_place.h"
#include "analysis/lines/stack_lines.h"

namespace batchlight {
namespace {

struct LimitMetric {
  GpuLimit limit;
  std::string_view metric;
};
constexpr LimitMetric kLimits[] = {
    {GpuLimit::kTensor, "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed"},
    {GpuLimit::kFma, "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_elapsed"},
    {GpuLimit::kAlu, "sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_elapsed"},
    {GpuLimit::kXu, "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_elapsed"},
    {GpuLimit::kFp64, "sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_elapsed"},
    {GpuLimit::kIssue, "smsp__issue_active.avg.pct_of_peak_sustained_elapsed"},
    {GpuLimit::kDram, "dram__throughput.avg.pct_of_peak_sustained_elapsed"},
    {GpuLimit::kL2, "lts__t_sectors.avg.pct_of_peak_sustained_elapsed"},
    {GpuLimit::kL1, "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed"}};

constexpr double kBusy = 0.6;  // of a limit: from here on it is what bounds
constexpr double kBalancedBy = 0.1;

bool IsSum(std::string_view metric) { return metric.ends_with(".sum"); }

// Sums up launches: counts are means of a launch, shares and rates are weighted with time.
class Sums {
 public:
  void Add(StringId metric, std::string_view name, double value, double time_ns) {
    Sum& sum = sums_[metric];
    sum.name = name;
    const double weight = IsSum(name) ? 1 : time_ns;
    sum.total += value * weight;
    sum.weight += weight;
  }
  std::optional<double> Of(std::string_view name) const {
    for (const auto& [metric, sum] : sums_) {
      if (sum.name == name && sum.weight > 0) return sum.total / sum.weight;
    }
    return std::nullopt;
  }
  std::optional<double> ShareOf(std::string_view name) const {
    const std::optional<double> percent = Of(name);
    return percent ? std::optional(*percent / 100) : std::nullopt;
  }
  std::optional<double> Ratio(std::string_view above, std::string_view below) const {
    const std::optional<double> a = Of(above), b = Of(below);
    return a && b && *b > 0 ? std::optional(*a / *b) : std::nullopt;
  }
  std::vector<std::pair<StringId, double>> All() const {
    std::vector<std::pair<StringId, double>> all;
    for (const auto& [metric, sum] : sums_) {
      if (sum.weight > 0) all.emplace_back(metric, sum.total / sum.weight);
    }
    return all;
  }

 private:
  struct Sum {
    std::string_view name;
    double total = 0;
    double weight = 0;
  };
  std::map<StringId, Sum> sums_;
};

void FindUse(const Sums& sums, KernelFigures& kernel) {
  for (const LimitMetric& known : kLimits) {
    kernel.use[size_t(known.limit)] = sums.ShareOf(known.metric);
  }
  const auto greatest = [&](GpuLimit first, GpuLimit last, GpuLimit& which) {
    std::optional<double> most;
    for (size_t limit = size_t(first); limit <= size_t(last); ++limit) {
      if (!kernel.use[limit] || (most && *most >= *kernel.use[limit])) continue;
      most = kernel.use[limit];
      which = GpuLimit(limit);
    }
    return most;
  };
  kernel.compute = greatest(GpuLimit::kTensor, GpuLimit::kIssue, kernel.compute_limit);
  kernel.memory = greatest(GpuLimit::kDram, GpuLimit::kL1, kernel.memory_limit);
}

KernelBound BoundOf(const KernelFigures& kernel) {
  if (kernel.kernel_class.kind == KernelKind::kCommunication) return KernelBound::kCommunication;
  if (!kernel.compute || !kernel.memory) return KernelBound::kUnknown;
  const double compute = *kernel.compute, memory = *kernel.memory;
  if (std::max(compute, memory) < kBusy) {
    const bool few = kernel.theoretical.waves > 0 && kernel.theoretical.waves < 1;
    return few ? KernelBound::kSmallGrid : KernelBound::kLatency;
  }
  if (std::abs(compute - memory) < kBalancedBy) return KernelBound::kBalanced;
  return compute > memory ? KernelBound::kCompute : KernelBound::kMemory;
}

void FindMemory(const Sums& sums, KernelFigures& kernel) {
  kernel.dram_read_bytes = sums.Of("dram__bytes_read.sum");
  kernel.dram_written_bytes = sums.Of("dram__bytes_write.sum");
  if (kernel.dram_read_bytes && kernel.dram_written_bytes && kernel.time_ns > 0) {
    kernel.dram_gbps = (*kernel.dram_read_bytes + *kernel.dram_written_bytes) / kernel.time_ns;
  }
  kernel.l1_hit = sums.ShareOf("l1tex__t_sector_hit_rate.pct");
  const auto hits = sums.Of("lts__t_sectors_lookup_hit.sum");
  const auto misses = sums.Of("lts__t_sectors_lookup_miss.sum");
  if (hits && misses && *hits + *misses > 0) kernel.l2_hit = *hits / (*hits + *misses);
  kernel.sectors_per_load = sums.Ratio("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
                                       "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum");
  kernel.sectors_per_store = sums.Ratio("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
                                        "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum");
  kernel.bank_conflicts = sums.Ratio("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
                                     "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum");
}

void FindStalls(const Sums& sums, KernelFigures& kernel) {
  for (const CounterMetric& metric : CounterMetrics()) {
    if (!metric.name.starts_with("smsp__average_warps_issue_stalled_")) continue;
    const std::optional<double> cycles = sums.Of(metric.name);
    if (cycles) kernel.stalls.push_back({metric.title, *cycles});
  }
  std::stable_sort(kernel.stalls.begin(), kernel.stalls.end(),
                   [](const StallShare& a, const StallShare& b) { return a.cycles > b.cycles; });
}

// What launches are put together by.
using GroupKey = std::tuple<ProcessId, uint32_t, bool, uint32_t, uint32_t, uint32_t, uint32_t>;

// Which line of Python launched a kernel; backward's is that of the forward it belongs to.
class LaunchLines {
 public:
  LaunchLines(const Store& store, const BackwardLinks& links)
      : lines_(store), finder_(store, links, lines_), calls_(store) {}

  PythonFrameId Of(const WorkOwner& owner, ApiCallId call) const {
    const LinePart part = finder_.OfWork(owner, calls_.Of(call));
    return part.stack.IsNone() ? PythonFrameId() : lines_.Of(part.stack).frame;
  }

 private:
  StackLines lines_;
  LineFinder finder_;
  CallStacks calls_;
};

class Reporter {
 public:
  Reporter(const Store& store, const BackwardLinks& links, const Attribution& work,
           const KernelChoice& choice)
      : store_(store), links_(links), work_(work), choice_(choice) {}

  KernelReport Report() {
    const MeasuredKernels measured = FindMeasuredKernels(store_);
    KernelReport report{.steps = measured.steps,
                        .steps_unmatched = measured.steps_unmatched,
                        .replays_unmatched = measured.replays_unmatched,
                        .incomplete = measured.incomplete};
    if (!measured.kernels.empty() && HasCallStacks(store_)) lines_.emplace(store_, links_);
    std::map<ProcessId, double> total_ns;
    for (const MeasuredKernel& kernel : measured.kernels) {
      if (!IsOfRank(kernel.process)) continue;
      total_ns[kernel.process] += kernel.time_ns;
      Add(report, kernel);
    }
    for (size_t i = 0; i < report.kernels.size(); ++i) {
      Finish(total_ns[report.kernels[i].process], sums_[i], report.kernels[i]);
    }
    if (!choice_.each_launch) {
      std::stable_sort(report.kernels.begin(), report.kernels.end(),
                       [](const KernelFigures& a, const KernelFigures& b) {
                         return a.time_ns * double(a.launches) > b.time_ns * double(b.launches);
                       });
    }
    uint32_t number = 0;
    for (KernelFigures& kernel : report.kernels) kernel.number = ++number;
    return report;
  }

 private:
  bool IsOfRank(ProcessId process) const {
    if (choice_.rank < 0) return true;
    return !process.IsNone() && store_.processes.rank[process.row()] == choice_.rank;
  }

  void Add(KernelReport& report, const MeasuredKernel& measured) {
    KernelFigures kernel{.process = measured.process,
                         .device = measured.device,
                         .is_graph = measured.is_graph,
                         .row = measured.row};
    const bool is_whole = measured.is_graph && !measured.by_node;
    const auto& owners = is_whole ? work_.graph_launches : work_.kernels;
    if (measured.row < owners.size()) {
      kernel.owner = owners[measured.row];
      const auto& calls = is_whole ? store_.graph_launches.api_call : store_.kernels.api_call;
      if (lines_) kernel.line = lines_->Of(kernel.owner, calls[measured.row]);
    }
    if (!measured.is_graph) {
      kernel.name = store_.kernels.demangled_name[measured.row];
      kernel.launch = store_.kernels.launch[measured.row];
    }
    if (choice_.wanted && !choice_.wanted(store_.Text(kernel.name))) return;
    const size_t place = PlaceOf(report, kernel);
    KernelFigures& into = report.kernels[place];
    ++into.launches;
    into.time_ns += (measured.time_ns - into.time_ns) / double(into.launches);
    const double spread =
        measured.time_ns > 0 ? (measured.most_ns - measured.least_ns) / measured.time_ns : 0;
    into.spread += (spread - into.spread) / double(into.launches);
    for (const auto& [metric, value] : measured.values) {
      sums_[place].Add(metric, store_.Text(metric), value, measured.time_ns);
    }
  }

  size_t PlaceOf(KernelReport& report, const KernelFigures& kernel) {
    size_t place = report.kernels.size();
    if (!choice_.each_launch) {
      StringId op, inputs;
      if (!kernel.owner.op.IsNone()) {
        op = store_.operator_calls.name[kernel.owner.op.row()];
        inputs = store_.operator_calls.inputs[kernel.owner.op.row()];
      }
      const GroupKey key{kernel.process,      kernel.device, kernel.is_graph, kernel.name.value,
                         kernel.launch.value, op.value,      inputs.value};
      place = places_.try_emplace(key, place).first->second;
    }
    if (place == report.kernels.size()) {
      report.kernels.push_back(kernel);
      sums_.emplace_back();
    }
    return place;
  }

  void Finish(double total_ns, const Sums& sums, KernelFigures& kernel) const {
    kernel.share = total_ns > 0 ? kernel.time_ns * double(kernel.launches) / total_ns : 0;
    kernel.kernel_class = ClassifyKernel(store_.Text(kernel.name));
    const auto& devices = store_.gpus.device;
    const auto gpu = std::find(devices.begin(), devices.end(), kernel.device);
    const bool is_known = gpu != devices.end();
    const auto gpu_row =
        is_known ? store_.gpus.Row(static_cast<size_t>(gpu - devices.begin())) : GpusRow();
    if (kernel.launch.row() < store_.kernel_launches.size() && is_known) {
      kernel.theoretical =
          TheoreticalOccupancy(store_.kernel_launches.Row(kernel.launch.row()), gpu_row);
    }
    FindUse(sums, kernel);
    kernel.bound = BoundOf(kernel);
    kernel.clock_hz = sums.Of("sm__cycles_elapsed.avg.per_second");
    kernel.occupancy = sums.ShareOf("sm__warps_active.avg.pct_of_peak_sustained_active");
    kernel.issue_active = sums.ShareOf("smsp__issue_active.avg.pct_of_peak_sustained_active");
    FindMemory(sums, kernel);
    FindStalls(sums, kernel);
    for (const OperationMetric& known : kOperationMetrics) {
      const std::optional<double> operations = sums.Of(known.metric);
      if (operations) kernel.tensor_operations = kernel.tensor_operations.value_or(0) + *operations;
    }
    const GpuPeaks peaks = is_known ? PeaksOf(store_.Text(gpu_row.name), gpu_row) : GpuPeaks();
    kernel.roofline = RooflineOf([&sums](std::string_view metric) { return sums.Of(metric); },
                                 kernel.time_ns, peaks);
    kernel.values = sums.All();
  }

  const Store& store_;
  const BackwardLinks& links_;
  const Attribution& work_;
  const KernelChoice& choice_;
  std::optional<LaunchLines> lines_;
  std::map<GroupKey, size_t> places_;
  std::vector<Sums> sums_;  // one per kernel of the report
};

}  // namespace

KernelReport ReportKernels(const Store& store, const BackwardLinks& links, const Attribution& work,
                           const KernelChoice& choice) {
  return Reporter(store, links, work, choice).Report();
}

void NameMemoryLines(const StallProfile& profile, const Store& store, KernelReport* report) {
  const auto waits = [](const StallRow& line) {
    uint64_t samples = 0;
    for (size_t reason = 0; reason < kStallReasons; ++reason) {
      const std::string_view name = kStallReasonList[reason].name;
      const bool is_memory = name == "long_scoreboard" || name == "lg_throttle" ||
                             name == "short_scoreboard" || name == "mio_throttle";
      if (is_memory) samples += line.by_reason[reason];
    }
    return samples;
  };
  std::map<std::string_view, const StallRow*> hottest;
  for (const StallRow& line : profile.lines) {
    if (line.line == 0 || waits(line) == 0) continue;
    const StallRow*& most = hottest[line.kernel];
    if (most == nullptr || waits(line) > waits(*most)) most = &line;
  }
  for (KernelFigures& kernel : report->kernels) {
    const auto found = hottest.find(store.Text(kernel.name));
    if (found == hottest.end()) continue;
    const StallRow& line = *found->second;
    kernel.memory_line = std::string(ShortFile(line.file)) + ":" + std::to_string(line.line);
    if (!line.source.empty()) kernel.memory_line += " `" + line.source + "`";
  }
}

std::string LaunchLineText(const Store& store, const KernelFigures& kernel) {
  if (kernel.line.IsNone()) return "";
  const PythonFramesTable& frames = store.python_frames;
  return std::string(ShortFile(store.Text(frames.file[kernel.line.row()]))) + ":" +
         std::to_string(frames.line[kernel.line.row()]);
}

std::string_view BoundName(KernelBound bound) {
  switch (bound) {
    case KernelBound::kUnknown:
      return "";
    case KernelBound::kCompute:
      return "compute";
    case KernelBound::kMemory:
      return "memory";
    case KernelBound::kBalanced:
      return "balanced";
    case KernelBound::kLatency:
      return "latency";
    case KernelBound::kSmallGrid:
      return "small grid";
    case KernelBound::kCommunication:
      return "other GPUs";
  }
  return "";
}

std::string_view LimitName(GpuLimit limit) {
  constexpr std::string_view kNames[] = {"tensor pipe", "FMA pipe",  "ALU pipe",
                                         "XU pipe",     "FP64 pipe", "issue slots",
                                         "DRAM",        "L2",        "L1 and shared memory"};
  static_assert(std::size(kNames) == size_t(GpuLimit::kCount));
  return limit < GpuLimit::kCount ? kNames[size_t(limit)] : "";
}

}  // namespace batchlight
