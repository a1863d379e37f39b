#include "analysis/owners/function_averages.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "analysis/cuda/gpu_event_names.h"
#include "analysis/owners/cpu_calls.h"
#include "store/flat_map.h"

namespace batchlight {
namespace {

constexpr uint32_t kNone = CpuCall::kNone;
using Kind = CpuCall::Kind;

// What is known of a call from those inside it.
struct Inside {
  uint32_t children = 0;
  int64_t children_ns = 0;
  int64_t gpu_own_ns = 0;  // of the work that the call launched itself
  int64_t gpu_children_ns = 0;

  int64_t gpu_ns() const { return gpu_own_ns + gpu_children_ns; }
};

struct EndedCall {
  CpuCall call;
  Inside inside;
};

// There are as many calls as a run has operators: only those that are open are kept.
struct OpenCall {
  CpuCall call;
  uint32_t annotation = kNone;  // its number, of an annotation
  Inside inside;
  std::optional<EndedCall> twin;  // the only child, if it has the same name
};

// What a CUDA call launched.
struct LaunchedWork {
  bool any = false;
  int64_t ns = 0;
  uint32_t annotation = kNone;  // the innermost one around the call
};

class Averages {
 public:
  Averages(const Store& store, const CallCounts& counts) : store_(store), counts_(counts) {}

  // A row for each name, kind and shapes, in no order.
  std::vector<FunctionAverage> Make() {
    FindLaunches(store_.kernels);
    FindLaunches(store_.memcpys);
    FindLaunches(store_.memsets);
    VisitCpuCalls(store_, &names_, [this](const CpuCall& call) { Enter(call); });
    while (!open_.empty()) Leave();
    AddWorkOfGpu();
    for (const auto& [key, span] : spans_) {
      AddOnGpu(Row(name_of_annotation_[std::get<0>(key)], true, true), span.second - span.first);
    }
    return std::move(rows_);
  }

 private:
  template <typename Table>
  void FindLaunches(const Table& table) {
    for (size_t row = 0; row < table.size(); ++row) {
      if (table.end_ns[row] == kOpenEnd || table.api_call[row].IsNone()) continue;
      if (launches_.empty()) launches_.resize(store_.api_calls.size());
      LaunchedWork& work = launches_[table.api_call[row].row()];
      work.any = true;
      work.ns += table.end_ns[row] - table.start_ns[row];
    }
  }

  bool Counts(ThreadId thread, int64_t start_ns, int64_t end_ns) const {
    return !counts_ || counts_(thread, start_ns, end_ns);
  }

  void Enter(const CpuCall& call) {
    if (!Counts(call.thread, call.start_ns, call.end_ns)) return;
    while (!open_.empty() && !IsInside(call, open_.back().call)) Leave();
    uint32_t annotation = kNone;
    if (call.kind == Kind::kAnnotation) {
      annotation = static_cast<uint32_t>(name_of_annotation_.size());
      name_of_annotation_.push_back(call.name);
    }
    if (call.async) {
      AddToRow({call, {}});
      last_async_ = {.call = call, .annotation = annotation};
      return;
    }
    if (!open_.empty()) {
      OpenCall& parent = open_.back();
      ++parent.inside.children;
      if (parent.twin.has_value()) AddToRow(*parent.twin);
      parent.twin.reset();
    }
    if (call.api_row != kNone && !launches_.empty()) Launch(call, launches_[call.api_row]);
    open_.push_back({.call = call, .annotation = annotation});
  }

  static bool IsInside(const CpuCall& call, const CpuCall& around) {
    return call.thread == around.thread && call.start_ns < around.end_ns &&
           call.end_ns <= around.end_ns;
  }

  // Gives what a CUDA call launched to the operator and the annotation around it.
  void Launch(const CpuCall& call, LaunchedWork& work) {
    if (!work.any) return;
    if (OpenCall* const op = Innermost(Kind::kOperator)) op->inside.gpu_own_ns += work.ns;
    const OpenCall* around = Innermost(Kind::kAnnotation);
    if (last_async_.has_value() && IsInside(call, last_async_->call) &&
        (around == nullptr || last_async_->call.start_ns >= around->call.start_ns)) {
      around = &*last_async_;
    }
    if (around != nullptr) work.annotation = around->annotation;
  }

  OpenCall* Innermost(Kind kind) {
    for (size_t i = open_.size(); i-- > 0;) {
      if (open_[i].call.kind == kind) return &open_[i];
    }
    return nullptr;
  }

  // Ends the innermost open call. It may turn out to be its parent's work.
  void Leave() {
    EndedCall ended{open_.back().call, open_.back().inside};
    if (open_.back().twin.has_value()) ended.inside = open_.back().twin->inside;
    open_.pop_back();
    if (open_.empty()) return AddToRow(ended);
    OpenCall& parent = open_.back();
    parent.inside.children_ns += ended.call.ns();
    parent.inside.gpu_children_ns += ended.inside.gpu_ns();
    if (parent.call.name == ended.call.name && parent.inside.children == 1) {
      parent.twin = ended;
    } else {
      AddToRow(ended);
    }
  }

  void AddToRow(const EndedCall& ended) {
    const CpuCall& call = ended.call;
    FunctionAverage& row = Row(call.name, false, call.kind == Kind::kAnnotation, call.operator_row);
    row.operator_name =
        call.operator_row == kNone ? StringId{} : store_.operator_calls.name[call.operator_row];
    ++row.calls;
    row.cpu_ns += call.ns();
    if (call.async) return;
    row.cpu_self_ns += call.ns() - ended.inside.children_ns;
    row.gpu_ns += ended.inside.gpu_ns();
    row.gpu_self_ns += ended.inside.gpu_own_ns;
  }

  FunctionAverage& Row(uint32_t name, bool on_gpu, bool is_annotation,
                       uint32_t operator_row = kNone) {
    StringId shapes;
    if (operator_row != kNone) shapes = store_.operator_calls.shapes[operator_row];
    const uint64_t kind = uint64_t{name} * 4 + uint64_t{on_gpu} * 2 + uint64_t{is_annotation};
    const auto next = static_cast<uint32_t>(rows_.size());
    const uint32_t row = row_of_.FindOrAdd(kind << 32 | shapes.value, next);
    if (row == next) {
      rows_.push_back({.name = names_.Text(name),
                       .shapes = shapes,
                       .on_gpu = on_gpu,
                       .is_annotation = is_annotation});
    }
    return rows_[row];
  }

  void AddWorkOfGpu() {
    NumberOfString kernels(store_, &names_, [](std::string_view name) { return name; });
    AddWork(store_.kernels,
            [&](size_t row) { return kernels[store_.kernels.demangled_name[row]]; });
    const MemcpysTable& copies = store_.memcpys;
    AddWork(copies, [&](size_t row) {
      return names_.Of(
          MemcpyName(copies.copy_kind[row], copies.source_kind[row], copies.destination_kind[row]));
    });
    AddWork(store_.memsets,
            [&](size_t row) { return names_.Of(MemsetName(store_.memsets.memory_kind[row])); });
  }

  template <typename Table, typename NameOf>
  void AddWork(const Table& table, const NameOf& name_of) {
    for (size_t row = 0; row < table.size(); ++row) {
      if (table.end_ns[row] == kOpenEnd || !LaunchCounts(table.api_call[row])) continue;
      AddOnGpu(Row(name_of(row), true, false), table.end_ns[row] - table.start_ns[row]);
      if (table.api_call[row].IsNone()) continue;
      const uint32_t annotation = launches_[table.api_call[row].row()].annotation;
      if (annotation == kNone) continue;
      const auto [place, added] =
          spans_.try_emplace({annotation, table.device[row], table.stream[row]},
                             table.start_ns[row], table.end_ns[row]);
      place->second.first = std::min(place->second.first, table.start_ns[row]);
      place->second.second = std::max(place->second.second, table.end_ns[row]);
    }
  }

  bool LaunchCounts(ApiCallId launch) const {
    if (!counts_) return true;
    const ApiCallsTable& calls = store_.api_calls;
    return !launch.IsNone() && Counts(calls.thread[launch.row()], calls.start_ns[launch.row()],
                                      calls.end_ns[launch.row()]);
  }

  static void AddOnGpu(FunctionAverage& row, int64_t ns) {
    ++row.calls;
    row.gpu_ns += ns;
    row.gpu_self_ns += ns;
  }

  const Store& store_;
  const CallCounts& counts_;
  NameNumbers names_;
  std::vector<LaunchedWork> launches_;  // by row of api_calls; empty: nothing was launched
  std::vector<OpenCall> open_;
  std::optional<OpenCall> last_async_;
  std::vector<uint32_t> name_of_annotation_;
  std::vector<FunctionAverage> rows_;
  FlatMap row_of_;  // by name, kind and shapes
  // First and last moment of the work of an annotation, by annotation, device and stream.
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, std::pair<int64_t, int64_t>> spans_;
};

std::vector<FunctionAverage> Sorted(std::vector<FunctionAverage> rows) {
  const auto key = [](const FunctionAverage& row) {
    return std::tuple(-row.cpu_self_ns, -row.gpu_self_ns, std::string_view(row.name), row.on_gpu,
                      row.is_annotation, row.shapes);
  };
  std::sort(rows.begin(), rows.end(),
            [&](const FunctionAverage& a, const FunctionAverage& b) { return key(a) < key(b); });
  return rows;
}

std::vector<FunctionAverage> SumOfShapes(const std::vector<FunctionAverage>& rows) {
  std::map<std::tuple<std::string_view, bool, bool>, FunctionAverage> sums;
  for (const FunctionAverage& row : rows) {
    FunctionAverage& sum = sums[{row.name, row.on_gpu, row.is_annotation}];
    sum.name = row.name;
    sum.on_gpu = row.on_gpu;
    sum.is_annotation = row.is_annotation;
    if (!row.operator_name.IsNone()) sum.operator_name = row.operator_name;
    sum.calls += row.calls;
    sum.cpu_ns += row.cpu_ns;
    sum.cpu_self_ns += row.cpu_self_ns;
    sum.gpu_ns += row.gpu_ns;
    sum.gpu_self_ns += row.gpu_self_ns;
  }
  std::vector<FunctionAverage> all;
  for (auto& [key, sum] : sums) all.push_back(std::move(sum));
  return all;
}

}  // namespace

const FunctionAverages::Rows& FunctionAverages::Found() const {
  std::call_once(once_, [this] {
    std::vector<FunctionAverage> rows = Averages(store_, counts_).Make();
    const bool any_shapes = std::any_of(
        rows.begin(), rows.end(), [](const FunctionAverage& row) { return !row.shapes.IsNone(); });
    rows_.by_name = Sorted(SumOfShapes(rows));
    if (any_shapes) rows_.by_shape = Sorted(std::move(rows));
  });
  return rows_;
}

}  // namespace batchlight
