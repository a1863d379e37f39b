#include "analysis/forward/forward_parts.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/forward/mask_loops.h"
#include "analysis/forward/operator_loops.h"
#include "analysis/numbers/closed_end.h"
#include "analysis/owners/autograd_numbers.h"
#include "analysis/owners/backward_links.h"
#include "analysis/owners/view_operators.h"
#include "analysis/phases/phase_marks.h"
#include "analysis/steps/step_lookup.h"
#include "store/interval_index.h"

namespace batchlight {
namespace {

// Operators between the two products of an attention, or between a head's and its loss, at most:
// scale, mask, bias, softmax, dropout and the conversions around them.
constexpr uint32_t kMostBetween = 24;
// Operators from where positions are chosen to the product of the head, at most: BERT's has a
// layer, an activation and a norm before it.
constexpr uint32_t kMostAfterChoice = 16;

// One operator of so many in a loop has a backward: most only look at memory in another way.
constexpr uint64_t kLeastWithBackward = 10;
// One operator of so many in a loop over time steps is a sigmoid, and as many a tanh: gates, of
// which an LSTM's step has five among a dozen operators, a GRU's two or three.
constexpr uint64_t kLeastGates = 16;
// What the call of an operator takes at most, with what autograd remembers of it.
constexpr int64_t kCallNs = 30'000;
// A backward that takes longer for each linked function waits for something else.
constexpr double kMostOfLinked = 2;
// Operators in a row that autograd does not follow: no forward of what learns.
constexpr uint32_t kMostNotFollowed = 16;

enum class Role : uint16_t {
  kOther,
  kBatchedProduct,  // of matrices that both depend on the batch
  kProduct,         // with weights: a layer of its own
  kSoftmax,
  kDropout,
  kCrossEntropy,
  kChoice,  // of rows
  kView,    // looks at memory in another way
  kMask,    // looks for what is not zero
  kSigmoid,
  kTanh,
  kRecurrent,  // a whole layer, of however many time steps
};

Role RoleOf(std::string_view name) {
  if (!name.starts_with("aten::")) return Role::kOther;
  name.remove_prefix(6);
  if (name == "bmm" || name == "baddbmm") return Role::kBatchedProduct;
  if (name == "mm" || name == "addmm" || name == "linear" || name == "convolution" ||
      name == "_scaled_dot_product_attention_math") {
    return Role::kProduct;
  }
  if (name == "_softmax" || name == "softmax" || name == "_safe_softmax") return Role::kSoftmax;
  if (name == "cross_entropy_loss" || name == "nll_loss_nd" || name == "nll_loss_forward" ||
      name == "nll_loss2d_forward") {
    return Role::kCrossEntropy;
  }
  if (name == "index" || name == "index_select" || name == "masked_select" || name == "gather") {
    return Role::kChoice;
  }
  if (name == "nonzero") return Role::kMask;
  if (name == "sigmoid") return Role::kSigmoid;
  if (name == "tanh") return Role::kTanh;
  if (name == "gru" || name == "lstm" || name == "rnn_tanh" || name == "rnn_relu") {
    return Role::kRecurrent;
  }
  if (IsViewOperator(name)) return Role::kView;
  // aten::dropout is called to drop nothing, too.
  return name == "bernoulli_" || name == "native_dropout" ? Role::kDropout : Role::kOther;
}

constexpr uint16_t BitOf(Role role) { return static_cast<uint16_t>(1 << static_cast<int>(role)); }

// What is in an operator that no other encloses: rows [begin, end).
struct Outermost {
  uint32_t begin = 0;
  uint32_t end = 0;
  uint16_t roles = 0;

  bool Has(Role role) const { return (roles & BitOf(role)) != 0; }
};

// The operators between two products.
struct AttentionFinder {
  Outermost product;        // the first
  uint32_t first = kNoRow;  // row behind a batched product; kNoRow: none came
  bool has_softmax = false;
  bool drops = false;
  uint32_t between = 0;

  // Whether `op` is the second product: what is between is rows [first, op.begin).
  bool Ends(const Outermost& op) {
    drops = drops || op.Has(Role::kDropout);
    const bool batched = op.Has(Role::kBatchedProduct);
    // A layer, or attention in one operator.
    if (op.Has(Role::kProduct) || (batched && op.Has(Role::kSoftmax))) return Forget();
    if (batched) return first != kNoRow && has_softmax;
    if (first == kNoRow) return false;
    has_softmax = has_softmax || op.Has(Role::kSoftmax);
    if (++between > kMostBetween) Forget();
    return false;
  }

  void BeginBehind(const Outermost& op) {
    Forget();
    product = op;
    first = op.end;
  }

  bool Forget() {
    *this = {};
    return false;
  }
};

// The last product and what follows it.
struct HeadFinder {
  uint32_t first = kNoRow;  // row of the product
  uint32_t after = 0;
  uint32_t after_choice = kMostAfterChoice + 1;
  bool chosen = false;

  // Whether `op` is the loss: the head is rows [first, op.end).
  bool Ends(const Outermost& op) {
    if (op.Has(Role::kProduct)) {
      first = op.begin;
      after = 0;
      chosen = after_choice <= kMostAfterChoice;
    }
    ++after_choice;
    if (op.Has(Role::kChoice)) {
      after_choice = 0;
      chosen = true;
    }
    return first != kNoRow && after++ <= kMostBetween && op.Has(Role::kCrossEntropy);
  }
};

class PartsFinder {
 public:
  PartsFinder(const Store& store, const ProcessSteps& main)
      : store_(store),
        operators_(store.operator_calls),
        main_(main),
        mask_loops_(store, main.thread) {}

  ForwardParts Find(const PhaseMarks& marks, const BackwardLinks& links, const Attribution& work) {
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
      if (steps.RowAt(start_ns) != step) {
        Forget();
        ModulesBy(start_ns);  // those of other steps
      }
      step = steps.RowAt(start_ns);
      const Outermost op = OutermostAt(row, rows.end);
      Take(op);
      row = op.end;
    }
    Forget();
    AddLoops(links);
    std::vector<ForwardPart*> parts;
    for (ForwardPart* part : {&found_.attention, &found_.head, &found_.loops, &found_.mask_loops}) {
      if (part->count > 0) parts.push_back(part);
    }
    if (parts.empty()) return {};
    AddBackward(links, parts);
    AddWork(work, parts);
    if (found_.loops.count > 0) found_.backward_of_linked = BackwardOfLinked(backwards, links);
    return std::move(found_);
  }

 private:
  Outermost OutermostAt(uint32_t row, uint32_t end) {
    const int64_t end_ns = ClosedEnd(store_, operators_.start_ns[row], operators_.end_ns[row]);
    Outermost op{.begin = row, .end = row};
    while (op.end < end && (op.end == row || operators_.start_ns[op.end] < end_ns)) {
      op.roles |= BitOf(KnownRole(operators_.name[op.end]));
      ++op.end;
    }
    // It looks up rows of its table, not positions of the batch.
    if (store_.Text(operators_.name[row]) == "aten::embedding") {
      op.roles &= static_cast<uint16_t>(~BitOf(Role::kChoice));
    }
    return op;
  }

  void Take(const Outermost& op) {
    TakeInLoop(op);
    mask_loops_.Take(StretchOf(op), operators_.name[op.begin], op.Has(Role::kMask));
    if (attention_.Ends(op)) {
      Add(attention_.first, op.begin, op.begin, found_.attention);
      AddOperandsOf(attention_.product, found_.attention);
      AddOperandsOf(op, found_.attention);
      found_.attention_drops = found_.attention_drops || attention_.drops;
    }
    if (op.Has(Role::kBatchedProduct) && !op.Has(Role::kSoftmax) && !op.Has(Role::kProduct)) {
      attention_.BeginBehind(op);
    }
    if (!head_.Ends(op)) return;
    Add(head_.first, op.end, head_.first, found_.head);
    found_.head_of_chosen = found_.head_of_chosen || head_.chosen;
    head_ = {};
  }

  // Modules whose calls on the thread have begun by a time that only grows, and were not told yet.
  std::span<const StringId> ModulesBy(int64_t ns) {
    const ModuleCallsTable& modules = store_.module_calls;
    const uint32_t first = module_;
    while (module_ < module_rows_.end && modules.start_ns[module_] <= ns) ++module_;
    return std::span(modules.path).subspan(first, module_ - first);
  }

  void TakeInLoop(const Outermost& op) {
    // What autograd does not follow is looked for elsewhere (loop_work).
    if (!HasOwnNumber(operators_, op.begin)) return;
    // Each that autograd follows takes the next number.
    const int64_t number = operators_.sequence[op.begin];
    not_followed_ = number == number_ ? not_followed_ + 1 : 0;
    number_ = number;
    if (not_followed_ > kMostNotFollowed) return loops_.End();
    const Role role = KnownRole(operators_.name[op.begin]);
    const std::span<const StringId> modules = ModulesBy(operators_.start_ns[op.begin]);
    // One call for all time steps would compute as much, but launch less.
    if (role == Role::kRecurrent && store_.kernels.size() == 0) return loops_.Pass(modules);
    loops_.Take(StretchOf(op), operators_.name[op.begin], role != Role::kView, modules);
  }

  OperatorStretch StretchOf(const Outermost& op) const {
    const int64_t start_ns = operators_.start_ns[op.begin];
    return {.begin = op.begin,
            .end = op.end,
            .span = {start_ns, ClosedEnd(store_, start_ns, operators_.end_ns[op.begin])}};
  }

  static int64_t LengthOf(const OperatorStretch& stretch) {
    return stretch.span.end_ns - stretch.span.start_ns;
  }

  // Those that have a backward: others prepare data.
  void AddLoops(const BackwardLinks& links) {
    if (loops_.found().empty() && mask_loops_.found().empty()) return;
    std::vector<bool> has_backward(operators_.size());
    for (const BackwardLink& link : links.links()) has_backward[link.forward.row()] = true;
    const auto learning = [&](const OperatorStretch& stretch) {
      return uint64_t(std::count(has_backward.begin() + stretch.begin,
                                 has_backward.begin() + stretch.end, true));
    };
    for (const OperatorLoop& loop : loops_.found()) {
      uint64_t of_loop = 0;
      for (const OperatorStretch& stretch : loop.stretches) of_loop += learning(stretch);
      if (of_loop * kLeastWithBackward < loop.operators) continue;
      for (const OperatorStretch& stretch : loop.stretches) {
        Add(stretch.begin, stretch.end, stretch.begin, found_.loops);
        found_.loop_spans.push_back(stretch.span);
        found_.loop_work_ns += WorkOf(stretch);
      }
      found_.loop_operators += loop.operators;
      if (HasGates(loop)) found_.gate_operators += loop.operators;
    }
    // The longest first: a part has the module of what is added first.
    std::vector<MaskLoop> by_length(mask_loops_.found().begin(), mask_loops_.found().end());
    std::stable_sort(by_length.begin(), by_length.end(), [](const auto& a, const auto& b) {
      return LengthOf(a.stretch) > LengthOf(b.stretch);
    });
    for (const MaskLoop& loop : by_length) {
      if (learning(loop.stretch) < loop.rounds) continue;
      Add(loop.stretch.begin, loop.stretch.end, loop.stretch.begin, found_.mask_loops);
      ++found_.mask_loop_count;
      found_.mask_loop_spans.push_back(loop.stretch.span);
      found_.mask_rounds += loop.rounds;
    }
    found_.mask_loop_spans = UnionOf(std::move(found_.mask_loop_spans));
  }

  int64_t WorkOf(const OperatorStretch& stretch) const {
    int64_t work_ns = 0;
    std::vector<std::pair<int64_t, int64_t>> open;  // end and own time of those not over yet
    const auto close = [&] {
      work_ns += std::max<int64_t>(0, open.back().second - kCallNs);
      open.pop_back();
    };
    for (uint32_t row = stretch.begin; row < stretch.end; ++row) {
      const int64_t start_ns = operators_.start_ns[row];
      const int64_t end_ns = ClosedEnd(store_, start_ns, operators_.end_ns[row]);
      while (!open.empty() && open.back().first <= start_ns) close();
      if (!open.empty()) open.back().second -= end_ns - start_ns;
      open.emplace_back(end_ns, end_ns - start_ns);
    }
    while (!open.empty()) close();
    return work_ns;
  }

  bool HasGates(const OperatorLoop& loop) {
    uint64_t sigmoids = 0, tanhs = 0;
    for (const OperatorStretch& stretch : loop.stretches) {
      for (uint32_t row = stretch.begin; row < stretch.end; ++row) {
        sigmoids += KnownRole(operators_.name[row]) == Role::kSigmoid;
        tanhs += KnownRole(operators_.name[row]) == Role::kTanh;
      }
    }
    return std::min(sigmoids, tanhs) * kLeastGates >= loop.operators;
  }

  void Forget() {
    attention_ = {};
    head_ = {};
    loops_.End();
    mask_loops_.End();
  }

  // Rows [begin, end), in the module around row `named`.
  void Add(uint32_t begin, uint32_t end, uint32_t named, ForwardPart& part) {
    if (part.is_operator.empty()) part.is_operator.resize(operators_.size());
    int64_t until_ns = INT64_MIN;
    for (uint32_t row = begin; row < end; ++row) {
      if (operators_.scope[row] != OperatorScope::kFunction) continue;  // may hold the product
      part.is_operator[row] = true;
      if (operators_.start_ns[row] < until_ns) continue;
      until_ns = ClosedEnd(store_, operators_.start_ns[row], operators_.end_ns[row]);
      part.cpu_ns += until_ns - operators_.start_ns[row];
    }
    if (part.count++ > 0) return;
    const ModuleCallsTable& modules = store_.module_calls;
    const IntervalIndex in_modules(modules.thread, modules.start_ns, modules.end_ns);
    const uint32_t call = in_modules.Innermost(main_.thread, operators_.start_ns[named]);
    if (call == kNoRow) return;
    part.module = modules.path[call];
    part.class_name = modules.class_name[call];
  }

  // What a product calls besides: conversions and copies of what goes into it, of the scores and of
  // a mask as large as they are.
  void AddOperandsOf(const Outermost& product, ForwardPart& part) {
    int64_t until_ns = INT64_MIN;
    for (uint32_t row = product.begin + 1; row < product.end; ++row) {
      if (operators_.scope[row] != OperatorScope::kFunction || part.is_operator[row]) continue;
      if (KnownRole(operators_.name[row]) == Role::kBatchedProduct ||
          store_.Text(operators_.name[row]) == "aten::matmul") {
        continue;
      }
      part.is_operator[row] = true;
      if (operators_.start_ns[row] < until_ns) continue;
      until_ns = ClosedEnd(store_, operators_.start_ns[row], operators_.end_ns[row]);
      part.cpu_ns += until_ns - operators_.start_ns[row];
    }
  }

  static void AddBackward(const BackwardLinks& links, std::span<ForwardPart* const> parts) {
    for (const BackwardLink& link : links.links()) {
      for (ForwardPart* part : parts) {
        if (!part->is_operator[link.forward.row()]) continue;
        part->cpu_ns += link.own_ns;
        part->backward_ns += link.own_ns;
        part->learns = true;
      }
    }
  }

  double BackwardOfLinked(std::span<const PhaseMark> backwards, const BackwardLinks& links) const {
    StepLookup steps(&main_);
    int64_t all_ns = 0, linked_ns = 0;
    for (const PhaseMark& mark : backwards) {
      if (steps.IsSteadyAt(mark.start_ns)) all_ns += mark.end_ns - mark.start_ns;
    }
    for (const BackwardLink& link : links.links()) {
      const size_t row = link.backward.row();
      if (store_.ProcessOf(operators_.thread[row]) != main_.process) continue;
      if (steps.IsSteadyAt(operators_.start_ns[row])) linked_ns += link.own_ns;
    }
    const double of_linked = linked_ns > 0 ? double(all_ns) / double(linked_ns) : 1;
    return of_linked > 1 && of_linked <= kMostOfLinked ? of_linked : 1;
  }

  void AddWork(const Attribution& work, std::span<ForwardPart* const> parts) const {
    StepLookup steps(&main_);
    VisitWork(store_, work, [&](const WorkOwner& owner, int64_t ns, int64_t launched_ns) {
      for (ForwardPart* part : parts) {
        if (part->Launched(owner) && steps.IsSteadyAt(launched_ns)) part->gpu_ns += ns;
      }
    });
  }

  Role KnownRole(StringId name) {
    const auto [known, added] = roles_.try_emplace(name, Role::kOther);
    if (added) known->second = RoleOf(store_.Text(name));
    return known->second;
  }

  const Store& store_;
  const OperatorCallsTable& operators_;
  const ProcessSteps& main_;
  ForwardParts found_;
  AttentionFinder attention_;
  HeadFinder head_;
  OperatorLoops loops_;
  MaskLoops mask_loops_;
  const ThreadSpans::Rows module_rows_ = ThreadSpans(store_.module_calls.thread).Of(main_.thread);
  uint32_t module_ = module_rows_.begin;
  int64_t number_ = -1;  // of the last operator, and how many before it had that too
  uint32_t not_followed_ = 0;
  std::unordered_map<StringId, Role> roles_;
};

}  // namespace

ForwardParts FindForwardParts(const Store& store, const ProcessSteps* main, const PhaseMarks& marks,
                              const BackwardLinks& links, const Attribution& work) {
  if (main == nullptr || main->thread.IsNone() || main->steady.empty()) return {};
  return PartsFinder(store, *main).Find(marks, links, work);
}

}  // namespace batchlight
