#include "analysis/forward/growing_calls.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/numbers/closed_end.h"
#include "analysis/owners/autograd_numbers.h"
#include "analysis/phases/phase_marks.h"
#include "analysis/steps/loop_span.h"
#include "store/interval_index.h"

namespace batchlight {
namespace {

constexpr size_t kLeastCalls = 8;
// A call works on more than the one before, but not on so much more that it is another batch.
constexpr double kMostGrowth = 1.25;
// So many calls of a row grow by as much as its median call does: the same samples, one position
// more. Batches that are sorted by length grow as it comes.
constexpr double kEven = 0.8;
constexpr double kEvenPart = 0.02;
constexpr double kEvenBlocks = 1;  // of a kernel: the last one need not be full

// Positions, of all samples, that go into a layer: the sizes of the first operand that has rows,
// without the last, of "[[64], [8, 32, 4], [4, 64]]"; 0: not known.
double PositionsOf(std::string_view shapes) {
  for (size_t at = shapes.find('[', 1); at != shapes.npos; at = shapes.find('[', at + 1)) {
    std::string_view dims = shapes.substr(at + 1, shapes.find(']', at) - at - 1);
    if (dims.find(',') == dims.npos) continue;
    double positions = 1;
    for (size_t comma = dims.find(','); comma != dims.npos; comma = dims.find(',')) {
      int64_t size = 0;
      std::from_chars(dims.data(), dims.data() + comma, size);
      positions *= double(size);
      dims.remove_prefix(std::min(dims.size(), dims.find_first_not_of(", ", comma)));
    }
    return positions;
  }
  return 0;
}

// Puts what one call gave behind what it was given. Copies from the CPU are parts of other
// operators.
bool Appends(std::string_view op) {
  constexpr std::string_view kAppending[] = {
      "aten::cat",           "aten::concat",      "aten::concatenate",     "aten::hstack",
      "aten::stack",         "aten::pad",         "aten::constant_pad_nd", "aten::copy_",
      "aten::index_put_",    "aten::index_copy_", "aten::scatter_",        "aten::scatter",
      "aten::select_scatter"};
  return std::find(std::begin(kAppending), std::end(kAppending), op) != std::end(kAppending);
}

bool IsLayer(std::string_view op) {
  return op == "aten::linear" || op == "aten::addmm" || op == "aten::mm";
}

struct ModelCall {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  StringId path, class_name;
  uint32_t after_backwards = 0;    // how many began before it
  uint32_t after_batches = 0;      // the same of a DataLoader's
  bool feeds_next = false;         // between it and the next, a tensor was made longer
  int64_t gpu_ns = 0;              // of its kernels
  std::vector<double> sizes = {};  // blocks of each kernel, or positions of each layer
  double size = 0;                 // median of these

  bool IsOfSameRow(const ModelCall& other) const {
    return path == other.path && class_name == other.class_name &&
           after_backwards == other.after_backwards && after_batches == other.after_batches;
  }
};

class GrowingCallsFinder {
 public:
  GrowingCallsFinder(const Store& store, const ProcessSteps& main) : store_(store), main_(main) {}

  GrowingCalls Find(const PhaseMarks& marks) {
    FindCalls(marks);
    KeepRows();
    if (calls_.empty()) return {};
    FindFeeds();
    if (on_cpu_) {
      AddLayers();
    } else {
      AddKernels();
    }
    for (ModelCall& call : calls_) call.size = MedianOf(call.sizes);
    size_t begin = 0;
    for (size_t i = 1; i <= calls_.size(); ++i) {
      if (i < calls_.size() && calls_[i].IsOfSameRow(calls_[begin]) && Grows(i)) continue;
      TakeRow(std::span(calls_).subspan(begin, i - begin));
      begin = i;
    }
    if (found_.calls == 0) return {};
    found_.positions /= double(found_.calls);
    // Most calls wait until the GPU's queue has room.
    if (!on_cpu_) found_.calling_ns = shortest_ns_ * int64_t(found_.calls - found_.rows);
    return found_;
  }

 private:
  // Outermost ones within the loop.
  void FindCalls(const PhaseMarks& marks) {
    const std::vector<PhaseMark> backwards = marks.Outermost(main_.thread, PhaseKind::kBackward);
    const ModuleCallsTable& modules = store_.module_calls;
    const ThreadSpans::Rows rows = ThreadSpans(modules.thread).Of(main_.thread);
    const TimeSpan loop = SpanOfLoop(main_.steps).whole;
    const std::vector<int64_t> batches = BatchStarts();
    uint32_t backward = 0, batch = 0;
    for (uint32_t row = rows.begin; row < rows.end; ++row) {
      const int64_t start_ns = modules.start_ns[row];
      if (modules.depth[row] != 0 || start_ns < loop.start_ns || start_ns > loop.end_ns) continue;
      while (backward < backwards.size() && backwards[backward].start_ns < start_ns) ++backward;
      while (batch < batches.size() && batches[batch] < start_ns) ++batch;
      calls_.push_back({.start_ns = start_ns,
                        .end_ns = ClosedEnd(store_, start_ns, modules.end_ns[row]),
                        .path = modules.path[row],
                        .class_name = modules.class_name[row],
                        .after_backwards = backward,
                        .after_batches = batch});
    }
    RemoveLearning();
  }

  std::vector<int64_t> BatchStarts() const {
    const PhaseCallsTable& phases = store_.phase_calls;
    const ThreadSpans::Rows rows = ThreadSpans(phases.thread).Of(main_.thread);
    std::vector<int64_t> starts;
    for (uint32_t row = rows.begin; row < rows.end; ++row) {
      if (phases.phase[row] == Phase::kDataLoaderNext) starts.push_back(phases.start_ns[row]);
    }
    return starts;
  }

  // What the program itself calls between two calls of the model.
  void FindFeeds() {
    const OperatorCallsTable& operators = store_.operator_calls;
    const ThreadSpans::Rows rows = ThreadSpans(operators.thread).Of(main_.thread);
    auto next = calls_.begin();
    for (uint32_t row = rows.begin; row < rows.end; ++row) {
      const int64_t start_ns = operators.start_ns[row];
      while (next != calls_.end() && next->start_ns <= start_ns) ++next;
      if (next == calls_.begin() || std::prev(next)->end_ns > start_ns) continue;
      const OperatorCallId parent = operators.parent[row];
      const bool inner = !parent.IsNone() && operators.scope[parent.row()] != OperatorScope::kUser;
      if (!inner && Appends(store_.Text(operators.name[row]))) std::prev(next)->feeds_next = true;
    }
  }

  // Those that autograd follows: each node of its graph takes a number.
  void RemoveLearning() {
    const OperatorCallsTable& operators = store_.operator_calls;
    const ThreadSpans::Rows rows = ThreadSpans(operators.thread).Of(main_.thread);
    uint32_t row = rows.begin;
    std::erase_if(calls_, [&](const ModelCall& call) {
      while (row < rows.end && operators.start_ns[row] < call.start_ns) ++row;
      int64_t first = -1, last = -1;
      for (; row < rows.end && operators.start_ns[row] < call.end_ns; ++row) {
        if (operators.sequence[row] < 0 || !HasOwnNumber(operators, row)) continue;
        last = operators.sequence[row];
        if (first < 0) first = last;
      }
      return last > first;
    });
  }

  void KeepRows() {
    std::vector<ModelCall> kept;
    for (size_t begin = 0, end = 0; begin < calls_.size(); begin = end) {
      while (end < calls_.size() && calls_[end].IsOfSameRow(calls_[begin])) ++end;
      if (end - begin < kLeastCalls) continue;
      kept.insert(kept.end(), calls_.begin() + long(begin), calls_.begin() + long(end));
    }
    calls_ = std::move(kept);
  }

  ModelCall* CallAt(int64_t ns) {
    const auto after = std::upper_bound(
        calls_.begin(), calls_.end(), ns,
        [](int64_t at_ns, const ModelCall& call) { return at_ns < call.start_ns; });
    if (after == calls_.begin() || std::prev(after)->end_ns <= ns) return nullptr;
    return &*std::prev(after);
  }

  void AddKernels() {
    const KernelsTable& kernels = store_.kernels;
    for (size_t row = 0; row < kernels.size(); ++row) {
      const ApiCallId launch = kernels.api_call[row];
      if (launch.IsNone() || kernels.launch[row].IsNone()) continue;
      if (store_.api_calls.thread[launch.row()] != main_.thread) continue;
      ModelCall* call = CallAt(store_.api_calls.start_ns[launch.row()]);
      if (call == nullptr || kernels.end_ns[row] == kOpenEnd) continue;
      const KernelLaunchesRow grid = store_.kernel_launches.Row(kernels.launch[row].row());
      call->sizes.push_back(double(grid.grid_x) * grid.grid_y * grid.grid_z);
      call->gpu_ns += kernels.end_ns[row] - kernels.start_ns[row];
    }
  }

  void AddLayers() {
    const OperatorCallsTable& operators = store_.operator_calls;
    const ThreadSpans::Rows rows = ThreadSpans(operators.thread).Of(main_.thread);
    for (uint32_t row = rows.begin; row < rows.end; ++row) {
      if (operators.shapes[row].IsNone() || !IsLayer(store_.Text(operators.name[row]))) continue;
      ModelCall* call = CallAt(operators.start_ns[row]);
      const double positions = PositionsOf(store_.Text(operators.shapes[row]));
      if (call != nullptr && positions > 0) call->sizes.push_back(positions);
    }
  }

  // Of all kernels most work on the positions that go in. With a cache that grows only what holds
  // it and the attention do.
  static double MedianOf(std::vector<double>& sizes) {
    if (sizes.empty()) return 0;
    const auto middle = sizes.begin() + long(sizes.size() / 2);
    std::nth_element(sizes.begin(), middle, sizes.end());
    return *middle;
  }

  bool Grows(size_t i) const {
    const double before = calls_[i - 1].size, size = calls_[i].size;
    return before > 0 && size >= before && size <= kMostGrowth * before;
  }

  void TakeRow(std::span<const ModelCall> row) {
    if (row.size() < kLeastCalls) return;
    const auto steps = double(row.size() - 1);
    std::vector<double> growths;
    for (size_t i = 1; i < row.size(); ++i) growths.push_back(row[i].size - row[i - 1].size);
    const double each = MedianOf(growths);
    if (each <= 0) return;
    const double most_off = std::max(kEvenPart * each, on_cpu_ ? 0 : kEvenBlocks);
    double even = 0, fed = 0, positions = 0;
    int64_t work_ns = 0, shortest_ns = shortest_ns_;
    for (size_t i = 0; i < row.size(); ++i) {
      positions += row[i].size / each;
      shortest_ns = std::min(shortest_ns, row[i].end_ns - row[i].start_ns);
      if (i == 0) continue;
      const double grown = row[i].size - row[i - 1].size;
      even += std::abs(grown - each) <= most_off ? 1 : 0;
      fed += row[i - 1].feeds_next ? 1 : 0;
      work_ns += on_cpu_ ? row[i].end_ns - row[i].start_ns : row[i].gpu_ns;
    }
    if (even < kEven * steps || fed < kEven * steps) return;
    if (found_.rows++ == 0) found_.class_name = row.front().class_name;
    found_.calls += row.size();
    found_.span_ns += row.back().end_ns - row.front().start_ns;
    found_.work_ns += work_ns;
    found_.positions += positions;
    shortest_ns_ = shortest_ns;
  }

  const Store& store_;
  const ProcessSteps& main_;
  const bool on_cpu_ = store_.kernels.size() == 0;
  std::vector<ModelCall> calls_;
  int64_t shortest_ns_ = INT64_MAX;  // of the calls of all rows
  GrowingCalls found_;
};

}  // namespace

GrowingCalls FindGrowingCalls(const Store& store, const ProcessSteps& main,
                              const PhaseMarks& marks) {
  if (main.thread.IsNone() || main.steps.empty()) return {};
  return GrowingCallsFinder(store, main).Find(marks);
}

}  // namespace batchlight
