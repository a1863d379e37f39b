#include "analysis/advice/loop/stage_calls.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "analysis/advice/thresholds.h"
#include "analysis/owners/autograd_numbers.h"
#include "store/interval_index.h"

namespace batchlight::advice {
namespace {

// Products of the model's layers: their first operand of two dimensions or more has a row for each
// sample (`addmm` has the bias before it).
bool IsLayer(std::string_view op) {
  return op == "aten::linear" || op == "aten::addmm" || op == "aten::mm" ||
         op.starts_with("aten::conv");
}

// Rows of the first operand that has rows, of "[[64], [1, 4], [4, 64]]"; 0: none has.
int64_t RowsOf(std::string_view shapes) {
  for (size_t at = shapes.find('[', 1); at != std::string_view::npos;
       at = shapes.find('[', at + 1)) {
    const std::string_view dims = shapes.substr(at + 1, shapes.find(']', at) - at - 1);
    if (dims.find(',') == std::string_view::npos) continue;
    int64_t rows = 0;
    std::from_chars(dims.data(), dims.data() + dims.size(), rows);
    return rows;
  }
  return 0;
}

class Reader {
 public:
  Reader(const Store& store, ThreadId thread)
      : store_(store),
        operators_(ThreadSpans(store.operator_calls.thread).Of(thread)),
        modules_(ThreadSpans(store.module_calls.thread).Of(thread)) {}

  void Add(const StageSpan& stretch) {
    ++found_.stretches;
    AddOperators(stretch);
    const ModuleCallsTable& modules = store_.module_calls;
    for (uint32_t row = Skip(modules, modules_, stretch.start_ns);
         row < modules_.end && modules.start_ns[row] < stretch.end_ns; ++row) {
      if (modules.depth[row] != 0) continue;
      ++found_.model_calls;
      found_.module_ns += std::min(modules.end_ns[row], stretch.end_ns) - modules.start_ns[row];
    }
  }
  const StageCalls& found() const { return found_; }

 private:
  void AddOperators(const StageSpan& stretch) {
    const OperatorCallsTable& calls = store_.operator_calls;
    for (uint32_t row = Skip(calls, operators_, stretch.start_ns);
         row < operators_.end && calls.start_ns[row] < stretch.end_ns; ++row) {
      if (calls.start_ns[row] >= operators_end_ns_) AddOuter(row, stretch);
      const std::string_view name = store_.Text(calls.name[row]);
      found_.scalars_read += name == "aten::_local_scalar_dense" && IsReadByProgram(row);
      if (calls.shapes[row].IsNone() || !IsLayer(name)) continue;
      const int64_t rows = RowsOf(store_.Text(calls.shapes[row]));
      found_.products += rows > 0;
      found_.of_one_row += rows == 1;
    }
  }

  // An operator that no other called.
  void AddOuter(uint32_t row, const StageSpan& stretch) {
    const OperatorCallsTable& calls = store_.operator_calls;
    if (operators_end_ns_ >= stretch.start_ns) {
      const int64_t gap_ns = calls.start_ns[row] - operators_end_ns_;
      if (double(gap_ns) <= kRolloutCallNs) found_.operator_ns += gap_ns;
    }
    operators_end_ns_ = std::min(calls.end_ns[row], stretch.end_ns);
    found_.operator_ns += operators_end_ns_ - calls.start_ns[row];
    ++found_.operators;
    found_.followed += HasOwnNumber(calls, row) && IsFollowed(store_, row) && !IsCast(store_, row);
  }

  // Not for a condition, as distributions check what they are made of, nor in another operator that
  // draws samples: that is done once, however large the batch is.
  bool IsReadByProgram(uint32_t row) const {
    const OperatorCallsTable& calls = store_.operator_calls;
    for (OperatorCallId op = calls.parent[row]; !op.IsNone(); op = calls.parent[op.row()]) {
      if (calls.scope[op.row()] == OperatorScope::kUser) continue;
      if (store_.Text(calls.name[op.row()]) != "aten::item") return false;
    }
    return true;
  }

  template <typename Table>
  static uint32_t Skip(const Table& table, ThreadSpans::Rows& rows, int64_t until_ns) {
    while (rows.begin < rows.end && table.start_ns[rows.begin] < until_ns) ++rows.begin;
    return rows.begin;
  }

  const Store& store_;
  ThreadSpans::Rows operators_;  // from where the last stretch began
  ThreadSpans::Rows modules_;
  int64_t operators_end_ns_ = INT64_MIN;  // of the last one that no other called
  StageCalls found_;
};

}  // namespace

double StageCalls::model_ns() const { return double(std::max(module_ns, operator_ns)); }

bool StageCalls::AreOfOne() const {
  if (products > 0) return double(of_one_row) >= kOfOne * double(products);
  return model_calls > 0 && scalars_read + stretches >= model_calls;
}

StageCalls CallsInStage(const RunMeasures& run, StageKind kind) {
  const ProcessSteps* main = run.steps.Main();
  const ProcessStages* stages = run.stages.Main();
  if (main == nullptr || stages == nullptr || main->thread.IsNone()) return {};
  Reader reader(*run.store, main->thread);
  for (const StageSpan& span : stages->spans) {
    if (span.kind == kind) reader.Add(span);
  }
  return reader.found();
}

}  // namespace batchlight::advice
