#include "analysis/owners/unfused_attention.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "analysis/numbers/closed_end.h"
#include "analysis/owners/backward_links.h"
#include "analysis/phases/phase_marks.h"
#include "analysis/steps/step_lookup.h"
#include "store/interval_index.h"

namespace batchlight {
namespace {

// Operators between the two products of an attention, at most: scale, mask, bias, softmax, dropout
// and the conversions around them.
constexpr uint32_t kMostBetween = 24;

enum class Part : uint8_t {
  kOther,
  kBatchedProduct,  // of matrices that both depend on the batch
  kProduct,         // with weights: a layer of its own
  kSoftmax,
  kDropout,
};

Part PartOf(std::string_view name) {
  if (!name.starts_with("aten::")) return Part::kOther;
  name.remove_prefix(6);
  if (name == "bmm" || name == "baddbmm") return Part::kBatchedProduct;
  if (name == "mm" || name == "addmm" || name == "linear" || name == "convolution" ||
      name == "_scaled_dot_product_attention_math") {
    return Part::kProduct;
  }
  if (name == "_softmax" || name == "softmax" || name == "_safe_softmax") return Part::kSoftmax;
  // aten::dropout is called to drop nothing, too.
  return name == "bernoulli_" || name == "native_dropout" ? Part::kDropout : Part::kOther;
}

class AttentionFinder {
 public:
  AttentionFinder(const Store& store, const ProcessSteps& main)
      : store_(store), operators_(store.operator_calls), main_(main) {}

  UnfusedAttention Find(const PhaseMarks& marks, const BackwardLinks& links) {
    const ThreadSpans::Rows rows = ThreadSpans(operators_.thread).Of(main_.thread);
    StepLookup steps(&main_);
    const std::vector<PhaseMark> backwards = marks.Outermost(main_.thread, PhaseKind::kBackward);
    size_t backward = 0;
    size_t step = StepLookup::kNone;
    uint32_t row = rows.begin;
    while (row < rows.end) {
      const int64_t start_ns = operators_.start_ns[row];
      while (backward < backwards.size() && backwards[backward].end_ns <= start_ns) ++backward;
      const bool in_backward =
          backward < backwards.size() && backwards[backward].start_ns <= start_ns;
      if (operators_.scope[row] != OperatorScope::kFunction || in_backward ||
          !steps.IsSteadyAt(start_ns)) {
        if (in_backward) Forget();
        ++row;  // what is inside of a range of the user's is looked at
        continue;
      }
      if (steps.RowAt(start_ns) != step) Forget();
      step = steps.RowAt(start_ns);
      const int64_t end_ns = ClosedEnd(store_, start_ns, operators_.end_ns[row]);
      uint32_t next = row + 1;
      while (next < rows.end && operators_.start_ns[next] < end_ns) ++next;
      Take(row, next);
      row = next;
    }
    AddBackward(links);
    return std::move(found_);
  }

 private:
  // One operator of those that no other encloses, with what is inside.
  void Take(uint32_t row, uint32_t next) {
    bool batched = false, product = false, softmax = false;
    for (uint32_t inside = row; inside < next; ++inside) {
      const Part part = KnownPart(operators_.name[inside]);
      batched = batched || part == Part::kBatchedProduct;
      product = product || part == Part::kProduct;
      softmax = softmax || part == Part::kSoftmax;
      drops_ = drops_ || part == Part::kDropout;
    }
    if (product || (batched && softmax)) return Forget();  // a layer, or attention in one operator
    if (batched) {
      if (first_ != kNoRow && has_softmax_) Add(row);
      Forget();
      first_ = next;
      return;
    }
    if (first_ == kNoRow) return;
    has_softmax_ = has_softmax_ || softmax;
    if (++between_ > kMostBetween) Forget();
  }

  void Forget() {
    first_ = kNoRow;
    has_softmax_ = drops_ = false;
    between_ = 0;
  }

  // Between the products.
  void Add(uint32_t second) {
    if (found_.is_between.empty()) found_.is_between.resize(operators_.size());
    int64_t until_ns = INT64_MIN;
    for (uint32_t row = first_; row < second; ++row) {
      if (operators_.scope[row] != OperatorScope::kFunction) continue;  // may hold the product
      found_.is_between[row] = true;
      if (operators_.start_ns[row] < until_ns) continue;
      until_ns = ClosedEnd(store_, operators_.start_ns[row], operators_.end_ns[row]);
      found_.cpu_ns += until_ns - operators_.start_ns[row];
    }
    found_.drops = found_.drops || drops_;
    if (found_.count++ > 0) return;
    const ModuleCallsTable& modules = store_.module_calls;
    const IntervalIndex in_modules(modules.thread, modules.start_ns, modules.end_ns);
    const uint32_t call = in_modules.Innermost(main_.thread, operators_.start_ns[second]);
    if (call == kNoRow) return;
    found_.module = modules.path[call];
    found_.class_name = modules.class_name[call];
  }

  void AddBackward(const BackwardLinks& links) {
    if (found_.count == 0) return;
    for (const BackwardLink& link : links.links()) {
      if (!found_.is_between[link.forward.row()]) continue;
      found_.cpu_ns += link.own_ns;
      found_.learns = true;
    }
  }

  Part KnownPart(StringId name) {
    const auto [known, added] = parts_.try_emplace(name, Part::kOther);
    if (added) known->second = PartOf(store_.Text(name));
    return known->second;
  }

  const Store& store_;
  const OperatorCallsTable& operators_;
  const ProcessSteps& main_;
  UnfusedAttention found_;
  uint32_t first_ = kNoRow;  // row behind a batched product; kNoRow: none came
  bool has_softmax_ = false;
  bool drops_ = false;
  uint32_t between_ = 0;
  std::unordered_map<StringId, Part> parts_;
};

}  // namespace

UnfusedAttention FindUnfusedAttention(const Store& store, const ProcessSteps& main,
                                      const PhaseMarks& marks, const BackwardLinks& links) {
  if (main.thread.IsNone() || main.steady.empty()) return {};
  return AttentionFinder(store, main).Find(marks, links);
}

}  // namespace batchlight
