#include "analysis/tables/function_averages.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "analysis/cuda/cuda_call.h"
#include "analysis/cuda/gpu_event_names.h"
#include "analysis/numbers/merge_runs.h"
#include "store/flat_map.h"

namespace batchlight {
namespace {

constexpr uint32_t kNone = UINT32_MAX;
constexpr uint32_t kLeftOut = UINT32_MAX - 1;  // in place of a name's number

enum class Kind : uint8_t { kOperator, kAnnotation, kCall };

// A call of the CPU. There are as many as a run has operators and calls: what few have stands
// apart.
struct Event {
  int64_t start_ns;
  int64_t end_ns;
  int64_t children_ns = 0;
  ThreadId thread;
  uint32_t name;          // of Names
  uint32_t operator_row;  // of operator_calls; kNone: another table's
  uint32_t parent = kNone;
  uint32_t children = 0;
  Kind kind;
  bool folded = false;  // into its parent
  bool async = false;   // ends on another thread: not part of the nesting

  int64_t ns() const { return end_ns - start_ns; }
};

// What an event has on the GPU.
struct GpuTime {
  int64_t own_ns = 0;  // of the work that it launched itself
  int64_t ns = 0;      // with that of its children
};

// Numbers of distinct names.
class Names {
 public:
  uint32_t Of(std::string_view name) {
    const std::string_view shown = name.starts_with("ProfilerStep#") ? "ProfilerStep*" : name;
    const auto [place, added] = numbers_.try_emplace(std::string(shown), kNone);
    if (added) {
      place->second = static_cast<uint32_t>(names_.size());
      names_.push_back(&place->first);
    }
    return place->second;
  }
  const std::string& Text(uint32_t number) const { return *names_[number]; }

 private:
  std::unordered_map<std::string, uint32_t> numbers_;
  std::vector<const std::string*> names_;
};

// The same of strings of the store, by `name_of` them: each is looked at once.
class NumberOfString {
 public:
  NumberOfString(const Store& store, Names* names, std::string_view (*name_of)(std::string_view))
      : store_(store), names_(*names), name_of_(name_of), numbers_(store.strings.size(), kNone) {}

  // kLeftOut where `name_of` says "".
  uint32_t operator[](StringId string) {
    if (string.IsNone()) return names_.Of({});
    uint32_t& number = numbers_[string.row()];
    if (number == kNone) {
      const std::string_view text = store_.Text(string);
      const std::string_view name = name_of_(text);
      number = name.empty() && !text.empty() ? kLeftOut : names_.Of(name);
    }
    return number;
  }

 private:
  const Store& store_;
  Names& names_;
  std::string_view (*name_of_)(std::string_view);
  std::vector<uint32_t> numbers_;
};

// "" for what PyTorch leaves out.
std::string_view OperatorName(std::string_view name) {
  static constexpr auto kNames = std::to_array<std::string_view>(
      {"profiler::_record_function_enter", "profiler::_record_function_enter_new",
       "profiler::_record_function_exit", "aten::is_leaf", "aten::output_nr", "aten::_version"});
  return std::find(kNames.begin(), kNames.end(), name) == kNames.end() ? name : "";
}

std::string_view SameName(std::string_view name) { return name; }

class Averages {
 public:
  Averages(const Store& store, bool by_shape) : store_(store), by_shape_(by_shape) {}

  std::vector<FunctionAverage> Make() {
    events_.reserve(store_.operator_calls.size() + store_.api_calls.size());
    AddOperators();
    // Of other inputs these are not PyTorch's.
    if (store_.source_format == "kineto") {
      AddRanges(store_.nvtx_ranges, store_.nvtx_ranges.message);
      AddRanges(store_.phase_calls, store_.phase_calls.name);
    }
    AddApiCalls();
    Nest();
    NumberOfString kernels(store_, &names_, SameName);
    AddWork(store_.kernels,
            [&](size_t row) { return kernels[store_.kernels.demangled_name[row]]; });
    AddWork(store_.memcpys, [&](size_t row) {
      const MemcpysTable& copies = store_.memcpys;
      return names_.Of(
          MemcpyName(copies.copy_kind[row], copies.source_kind[row], copies.destination_kind[row]));
    });
    AddWork(store_.memsets,
            [&](size_t row) { return names_.Of(MemsetName(store_.memsets.memory_kind[row])); });
    AddAnnotationsOnGpu();
    Fold();
    AddEvents();
    return Sorted();
  }

 private:
  void Add(int64_t start_ns, int64_t end_ns, ThreadId thread, uint32_t name, Kind kind,
           uint32_t operator_row = kNone) {
    if (end_ns == kOpenEnd || thread.IsNone() || name == kLeftOut) return;
    events_.push_back({.start_ns = start_ns,
                       .end_ns = end_ns,
                       .thread = thread,
                       .name = name,
                       .operator_row = operator_row,
                       .kind = kind});
    // PyTorch ends these where NCCL's work ends.
    events_.back().async = kind == Kind::kAnnotation && names_.Text(name).starts_with("nccl:");
  }

  void AddOperators() {
    const OperatorCallsTable& calls = store_.operator_calls;
    NumberOfString names(store_, &names_, OperatorName);
    for (size_t row = 0; row < calls.size(); ++row) {
      const bool annotation = calls.scope[row] == OperatorScope::kUser;
      Add(calls.start_ns[row], calls.end_ns[row], calls.thread[row], names[calls.name[row]],
          annotation ? Kind::kAnnotation : Kind::kOperator, static_cast<uint32_t>(row));
    }
  }

  template <typename Table>
  void AddRanges(const Table& table, const std::vector<StringId>& texts) {
    NumberOfString names(store_, &names_, SameName);
    for (size_t row = 0; row < table.size(); ++row) {
      if constexpr (requires { table.style; }) {
        if (table.style[row] == NvtxStyle::kStartEnd) continue;
      }
      Add(table.start_ns[row], table.end_ns[row], table.thread[row], names[texts[row]],
          Kind::kAnnotation);
    }
  }

  void AddApiCalls() {
    const ApiCallsTable& calls = store_.api_calls;
    event_of_call_.assign(calls.size(), kNone);
    NumberOfString names(store_, &names_, PlainApiName);
    for (size_t row = 0; row < calls.size(); ++row) {
      if (calls.end_ns[row] == kOpenEnd || calls.thread[row].IsNone()) continue;
      event_of_call_[row] = static_cast<uint32_t>(events_.size());
      Add(calls.start_ns[row], calls.end_ns[row], calls.thread[row], names[calls.name[row]],
          Kind::kCall);
    }
  }

  // Orders the events, which come from a few tables in order, and finds their parents.
  void Nest() {
    const auto before = [](const Event& first, const Event& second) {
      return std::tuple(first.thread, first.start_ns, -first.end_ns) <
             std::tuple(second.thread, second.start_ns, -second.end_ns);
    };
    if (!std::is_sorted(events_.begin(), events_.end(), before)) Order(before);
    FindParents();
  }

  template <typename Before>
  void Order(const Before& before) {
    std::vector<uint32_t> order(events_.size());
    for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    MergeRuns(order, [&](uint32_t a, uint32_t b) { return before(events_[a], events_[b]); });
    std::vector<Event> ordered;
    std::vector<uint32_t> place(events_.size());
    ordered.reserve(events_.size());
    for (const uint32_t i : order) {
      place[i] = static_cast<uint32_t>(ordered.size());
      ordered.push_back(events_[i]);
    }
    events_ = std::move(ordered);
    for (uint32_t& event : event_of_call_) {
      if (event != kNone) event = place[event];
    }
  }

  void FindParents() {
    std::vector<uint32_t> open;
    uint32_t last_async = kNone;
    for (uint32_t i = 0; i < events_.size(); ++i) {
      Event& event = events_[i];
      if (last_async != kNone && IsInside(event, events_[last_async]))
        async_around_[i] = last_async;
      if (event.async) {
        last_async = i;
        continue;
      }
      while (!open.empty() && !IsInside(event, events_[open.back()])) open.pop_back();
      if (!open.empty()) {
        event.parent = open.back();
        ++events_[event.parent].children;
      }
      open.push_back(i);
    }
  }

  static bool IsInside(const Event& event, const Event& around) {
    return event.thread == around.thread && event.start_ns < around.end_ns &&
           event.end_ns <= around.end_ns;
  }

  uint32_t AnnotationAround(uint32_t call) const {
    const uint32_t around = InnermostAround(call, Kind::kAnnotation);
    const auto found = async_around_.find(call);
    if (found == async_around_.end()) return around;
    const uint32_t async = found->second;
    if (around == kNone) return async;
    return events_[async].start_ns >= events_[around].start_ns ? async : around;
  }

  uint32_t InnermostAround(uint32_t event, Kind kind) const {
    while (event != kNone && events_[event].kind != kind) event = events_[event].parent;
    return event;
  }

  FunctionAverage& Row(uint32_t name, bool on_gpu, bool is_annotation,
                       uint32_t operator_row = kNone) {
    StringId shapes;
    if (by_shape_ && operator_row != kNone) shapes = store_.operator_calls.shapes[operator_row];
    const uint64_t kind = uint64_t{name} * 4 + uint64_t{on_gpu} * 2 + uint64_t{is_annotation};
    const auto next = static_cast<uint32_t>(rows_.size());
    const uint32_t row = row_of_.FindOrAdd(kind << 32 | shapes.value, next);
    if (row == next) {
      rows_.push_back({});
      rows_.back().name = names_.Text(name);
      rows_.back().on_gpu = on_gpu;
      rows_.back().is_annotation = is_annotation;
      if (by_shape_) rows_.back().shapes = shapes;
      order_of_row_.emplace_back(name, on_gpu, is_annotation, shapes);
    }
    return rows_[row];
  }

  void AddOnGpu(FunctionAverage& row, int64_t ns) {
    ++row.calls;
    row.gpu_ns += ns;
    row.gpu_self_ns += ns;
  }

  template <typename Table, typename NameOf>
  void AddWork(const Table& table, const NameOf& name_of) {
    for (size_t row = 0; row < table.size(); ++row) {
      if (table.end_ns[row] == kOpenEnd) continue;
      const int64_t ns = table.end_ns[row] - table.start_ns[row];
      AddOnGpu(Row(name_of(row), true, false), ns);
      if (table.api_call[row].IsNone()) continue;
      const uint32_t call = event_of_call_[table.api_call[row].row()];
      const uint32_t op = InnermostAround(call, Kind::kOperator);
      if (op != kNone) Gpu(op).own_ns += ns;
      const uint32_t annotation = AnnotationAround(call);
      if (annotation == kNone) continue;
      const auto [place, added] =
          spans_.try_emplace({annotation, table.device[row], table.stream[row]},
                             table.start_ns[row], table.end_ns[row]);
      place->second.first = std::min(place->second.first, table.start_ns[row]);
      place->second.second = std::max(place->second.second, table.end_ns[row]);
    }
  }

  void AddAnnotationsOnGpu() {
    for (const auto& [key, span] : spans_) {
      const uint32_t name = events_[std::get<0>(key)].name;
      AddOnGpu(Row(name, true, true), span.second - span.first);
    }
  }

  // Most runs without a GPU have none at all.
  GpuTime& Gpu(uint32_t event) {
    if (gpu_.empty()) gpu_.resize(events_.size());
    return gpu_[event];
  }

  // Parents come before their children: one pass.
  void Fold() {
    for (uint32_t i = 0; i < events_.size(); ++i) {
      Event& event = events_[i];
      if (event.parent == kNone) continue;
      if (events_[event.parent].folded) event.parent = events_[event.parent].parent;
      Event& parent = events_[event.parent];
      if (parent.name != event.name || parent.children != 1) continue;
      event.folded = true;
      parent.children = event.children;
      if (!gpu_.empty()) gpu_[event.parent].own_ns = gpu_[i].own_ns;
    }
    for (size_t i = events_.size(); i-- > 0;) {
      const Event& event = events_[i];
      if (event.folded || event.async) continue;
      if (!gpu_.empty()) gpu_[i].ns += gpu_[i].own_ns;
      if (event.parent == kNone) continue;
      events_[event.parent].children_ns += event.ns();
      if (!gpu_.empty()) gpu_[event.parent].ns += gpu_[i].ns;
    }
  }

  void AddEvents() {
    for (size_t i = 0; i < events_.size(); ++i) {
      const Event& event = events_[i];
      if (event.folded) continue;
      FunctionAverage& row =
          Row(event.name, false, event.kind == Kind::kAnnotation, event.operator_row);
      row.operator_name =
          event.operator_row == kNone ? StringId{} : store_.operator_calls.name[event.operator_row];
      ++row.calls;
      row.cpu_ns += event.ns();
      if (event.async) continue;
      row.cpu_self_ns += event.ns() - event.children_ns;
      if (gpu_.empty()) continue;
      row.gpu_ns += gpu_[i].ns;
      row.gpu_self_ns += gpu_[i].own_ns;
    }
  }

  std::vector<FunctionAverage> Sorted() {
    std::vector<uint32_t> order(rows_.size());
    for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    const auto key = [&](uint32_t i) {
      return std::tuple(-rows_[i].cpu_self_ns, -rows_[i].gpu_self_ns, order_of_row_[i]);
    };
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
    std::vector<FunctionAverage> rows;
    for (const uint32_t i : order) rows.push_back(std::move(rows_[i]));
    return rows;
  }

  const Store& store_;
  const bool by_shape_;
  Names names_;
  std::vector<Event> events_;
  std::vector<GpuTime> gpu_;             // by event; empty: nobody has any
  std::vector<uint32_t> event_of_call_;  // by row of api_calls
  std::unordered_map<uint32_t, uint32_t> async_around_;
  std::vector<FunctionAverage> rows_;
  FlatMap row_of_;  // by name, kind and shapes
  std::vector<std::tuple<uint32_t, bool, bool, StringId>> order_of_row_;  // of rows alike
  // First and last moment of the work of an annotation, by event, device and stream.
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, std::pair<int64_t, int64_t>> spans_;
};

}  // namespace

std::vector<FunctionAverage> FunctionAverages(const Store& store, bool by_shape) {
  return Averages(store, by_shape).Make();
}

}  // namespace batchlight
