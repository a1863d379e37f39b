#include "analysis/counters/measured_kernels.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "store/counter_sets.h"

namespace batchlight {
namespace {

// CUPTI launches it after each kernel that it measures, and does not count it.
constexpr std::string_view kOfCupti = "WaitNs";

constexpr size_t kNoKernel = std::numeric_limits<size_t>::max();

// Something that ran in a stretch.
struct Work {
  int64_t start_ns = 0;
  bool is_graph = false;
  bool by_node = false;
  size_t row = 0;      // as MeasuredKernel's
  uint64_t graph = 0;  // by node: the least of its nodes, which is the same in each launch
};

// By process and range: rows of counter_values, in the order of the launches.
using ValueRows = std::map<std::pair<ProcessId, uint32_t>, std::vector<size_t>>;

ValueRows RowsByRange(const Store& store) {
  ValueRows rows;
  const CounterValuesTable& values = store.counter_values;
  for (size_t row = 0; row < values.size(); ++row) {
    if (values.launch[row] != 0) rows[{values.process[row], values.range[row]}].push_back(row);
  }
  return rows;
}

template <typename Table, typename Visitor>
void VisitWithin(const Table& table, int64_t start_ns, int64_t end_ns, Visitor&& visit) {
  const auto begin = std::lower_bound(table.start_ns.begin(), table.start_ns.end(), start_ns);
  for (size_t row = static_cast<size_t>(begin - table.start_ns.begin());
       row < table.size() && table.start_ns[row] < end_ns; ++row) {
    visit(row);
  }
}

bool IsOfCupti(const Store& store, size_t kernel) {
  const std::string_view name = store.Text(store.kernels.demangled_name[kernel]);
  return name.starts_with(kOfCupti) &&
         (name.size() == kOfCupti.size() || name[kOfCupti.size()] == '(');
}

// Launches of graphs that were recorded node by node, each put together from what ran of it.
class NodeGraphs {
 public:
  explicit NodeGraphs(std::vector<Work>& all) : all_(all) {}

  // `kernel`: its row, or kNoKernel.
  template <typename Table>
  void Add(const Table& table, size_t row, size_t kernel) {
    const std::pair launch(table.api_call[row].value, table.correlation[row]);
    const auto [place, added] = places_.try_emplace(launch, all_.size());
    const uint64_t node = table.graph_node[row];
    if (added) all_.push_back({table.start_ns[row], true, true, kernel, node});
    Work& graph = all_[place->second];
    graph.start_ns = std::min(graph.start_ns, table.start_ns[row]);
    graph.row = std::min(graph.row, kernel);
    graph.graph = std::min(graph.graph, node);
  }

 private:
  std::vector<Work>& all_;
  std::map<std::pair<uint32_t, uint32_t>, size_t> places_;  // by call and correlation
};

// What ran on the GPU in that range, in the order in which it did. A graph counts once.
std::vector<Work> WorkOf(const Store& store, const CounterRangesRow& range) {
  std::vector<Work> all;
  const auto belongs = [&](const auto& table, size_t row) {
    return table.process[row] == range.process && table.device[row] == range.device &&
           table.context[row] == range.context;
  };
  VisitWithin(store.graph_launches, range.start_ns, range.end_ns, [&](size_t row) {
    if (belongs(store.graph_launches, row)) {
      all.push_back({.start_ns = store.graph_launches.start_ns[row], .is_graph = true, .row = row});
    }
  });
  const bool by_node = all.empty();
  NodeGraphs graphs(all);
  VisitWithin(store.kernels, range.start_ns, range.end_ns, [&](size_t row) {
    if (!belongs(store.kernels, row) || IsOfCupti(store, row)) return;
    if (store.kernels.graph_node[row] == 0) {
      all.push_back({.start_ns = store.kernels.start_ns[row], .row = row});
    } else if (by_node) {
      graphs.Add(store.kernels, row, row);
    }
  });
  const auto add_nodes = [&](const auto& table) {
    VisitWithin(table, range.start_ns, range.end_ns, [&](size_t row) {
      if (belongs(table, row) && table.graph_node[row] != 0) graphs.Add(table, row, kNoKernel);
    });
  };
  if (by_node) {
    add_nodes(store.memcpys);
    add_nodes(store.memsets);
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Work& a, const Work& b) { return a.start_ns < b.start_ns; });
  return all;
}

class Matcher {
 public:
  explicit Matcher(const Store& store) : store_(store), rows_(RowsByRange(store)) {}

  MeasuredKernels Match() {
    const CounterRangesTable& ranges = store_.counter_ranges;
    for (size_t row = 0; row < ranges.size(); ++row) {
      if (ranges.kernels[row] == 0) continue;
      const CounterRangesRow range = ranges.Row(row);
      const bool is_replay = store_.Text(range.counter_set).starts_with(kReplayedSet);
      if (!is_replay || replayed_.insert({range.process, range.iteration}).second) ++found_.steps;
      std::vector<Work> work = WorkOf(store_, range);
      if (is_replay) KeepOne(range, work);
      if (work.size() != range.kernels) {
        ++(is_replay ? found_.replays_unmatched : found_.steps_unmatched);
        continue;
      }
      uint32_t& passes = passes_[range.process];
      passes = is_replay ? 1 : passes + 1;
      std::map<Key, uint32_t> seen;
      Take(range, work, is_replay ? seen_replayed_ : seen);
    }
    for (const MeasuredKernel& kernel : found_.kernels) {
      found_.incomplete += kernel.passes < passes_[kernel.process];
    }
    std::stable_sort(
        found_.kernels.begin(), found_.kernels.end(),
        [](const MeasuredKernel& a, const MeasuredKernel& b) { return a.process < b.process; });
    return std::move(found_);
  }

 private:
  // process, is a graph, device, name or graph, launch or node, stream, ordinal of these
  using Key = std::tuple<ProcessId, bool, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t>;

  Key KeyOf(const CounterRangesRow& range, const Work& work) const {
    if (work.by_node) {
      return {range.process,
              true,
              range.device,
              uint32_t(work.graph >> 32),
              uint32_t(work.graph),
              0,
              0};
    }
    if (work.is_graph) {
      const GraphLaunchesTable& graphs = store_.graph_launches;
      return {range.process,           true, range.device, graphs.graph[work.row], 0,
              graphs.stream[work.row], 0};
    }
    const KernelsTable& kernels = store_.kernels;
    return {range.process,
            false,
            range.device,
            kernels.demangled_name[work.row].value,
            kernels.launch[work.row].value,
            kernels.stream[work.row],
            0};
  }

  // Of a launch that ran once for each pass, the first time stands for it.
  void KeepOne(const CounterRangesRow& range, std::vector<Work>& work) const {
    const bool is_one = std::all_of(work.begin(), work.end(), [&](const Work& one) {
      return KeyOf(range, one) == KeyOf(range, work.front());
    });
    if (is_one && !work.empty()) work.resize(1);
  }

  // `seen`: how many launches of each kernel there were before.
  void Take(const CounterRangesRow& range, const std::vector<Work>& work,
            std::map<Key, uint32_t>& seen) {
    std::vector<size_t> places;
    for (const Work& one : work) {
      Key key = KeyOf(range, one);
      std::get<6>(key) = seen[key]++;
      const auto [place, added] = places_.try_emplace(key, found_.kernels.size());
      if (added) {
        found_.kernels.push_back({.process = range.process,
                                  .device = range.device,
                                  .is_graph = one.is_graph,
                                  .by_node = one.by_node,
                                  .row = one.row});
      }
      places.push_back(place->second);
    }
    const auto rows = rows_.find({range.process, range.range});
    if (rows == rows_.end()) return;
    const CounterValuesTable& values = store_.counter_values;
    for (const size_t row : rows->second) {
      if (values.launch[row] > places.size()) continue;
      AddValue(found_.kernels[places[values.launch[row] - 1]], values.metric[row],
               values.value[row]);
    }
  }

  void AddValue(MeasuredKernel& kernel, StringId metric, double value) const {
    if (store_.Text(metric) == kGpuTimeMetric) {
      kernel.least_ns = kernel.passes == 0 ? value : std::min(kernel.least_ns, value);
      kernel.most_ns = std::max(kernel.most_ns, value);
      ++kernel.passes;
      kernel.time_ns += (value - kernel.time_ns) / double(kernel.passes);
    }
    if (kernel.Find(metric) == nullptr) kernel.values.emplace_back(metric, value);
  }

  const Store& store_;
  ValueRows rows_;
  MeasuredKernels found_;
  std::map<Key, size_t> places_;
  std::map<ProcessId, uint32_t> passes_;
  std::set<std::pair<ProcessId, uint64_t>> replayed_;  // iterations with such launches
  std::map<Key, uint32_t> seen_replayed_;
};

}  // namespace

const double* MeasuredKernel::Find(StringId metric) const {
  for (const auto& [known, value] : values) {
    if (known == metric) return &value;
  }
  return nullptr;
}

MeasuredKernels FindMeasuredKernels(const Store& store) { return Matcher(store).Match(); }

}  // namespace batchlight
