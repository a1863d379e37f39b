#include "analysis/steps/step_updates.h"

#include <algorithm>
#include <functional>
#include <map>

#include "analysis/phases/capture_starts.h"

namespace batchlight {
namespace {

constexpr std::string_view kStepPrefix = "Optimizer.step#";
constexpr std::string_view kScalerPrefix = "GradScaler.";

size_t FirstFrom(const std::vector<PhaseMark>& marks, int64_t time_ns) {
  const auto found = std::partition_point(
      marks.begin(), marks.end(), [&](const PhaseMark& mark) { return mark.start_ns < time_ns; });
  return static_cast<size_t>(found - marks.begin());
}

bool AnyStartsWithin(const std::vector<PhaseMark>& marks, int64_t from_ns, int64_t to_ns) {
  const size_t first = FirstFrom(marks, from_ns);
  return first < marks.size() && marks[first].start_ns < to_ns;
}

// "Adam.step#2" -> "Adam.step": the number tells objects of one class apart.
std::string_view ClassOf(std::string_view name) {
  const size_t digit = name.find_last_not_of("0123456789");
  return digit != std::string_view::npos && digit + 1 < name.size() && name[digit] == '#'
             ? name.substr(0, digit)
             : name;
}

class UpdateFinder {
 public:
  UpdateFinder(const StepInputs& inputs, ThreadId thread)
      : inputs_(inputs),
        thread_(thread),
        backwards_(inputs.marks.Outermost(thread, PhaseKind::kBackward)) {
    const ThreadSpans::Rows rows = inputs.marks.RowsOf(thread);
    for (uint32_t row = rows.begin; row < rows.end; ++row) {
      const PhaseMark& mark = inputs.marks.all()[row];
      if (mark.kind == PhaseKind::kOptimizer) optimizers_.push_back(mark);
      if (mark.kind == PhaseKind::kForward) forwards_.push_back(mark);
    }
  }

  std::vector<Update> FromOptimizers() {
    std::vector<PhaseMark> marks = inputs_.marks.Outermost(thread_, PhaseKind::kOptimizer);
    // What a gradient scaler does besides the step ends nothing: a capture may stop before it.
    std::erase_if(marks, [&](const PhaseMark& mark) {
      const std::string_view name = inputs_.store.Text(mark.name);
      return name.starts_with(kScalerPrefix) && name != "GradScaler.step";
    });
    std::vector<Update> updates;
    int64_t before_ns = INT64_MIN;
    const CaptureStarts captures(inputs_.store, inputs_.store.ProcessOf(thread_));
    for (const PhaseMark& mark : marks) {
      const PhaseMark named = Innermost(mark);
      const bool own = backwards_.empty() || AnyStartsWithin(backwards_, before_ns, mark.end_ns) ||
                       captures.OpenedWithin(before_ns, mark.start_ns);
      if (own) updates.push_back({.start_ns = mark.start_ns});
      before_ns = mark.end_ns;
      if (updates.empty()) continue;
      Extend(updates.back(), mark, named);
    }
    if (SeveralOwners(updates)) {
      NameWork(updates);
      NameLoops(updates);
    }
    return updates;
  }

  std::vector<Update> FromBackwards() const {
    std::vector<Update> updates;
    for (const PhaseMark& mark : backwards_) {
      const bool own = updates.empty() || forwards_.empty() ||
                       AnyStartsWithin(forwards_, updates.back().end_ns, mark.start_ns);
      if (own) updates.push_back({.start_ns = mark.start_ns, .name = mark.name});
      updates.back().end_ns = mark.end_ns;
    }
    return updates;
  }

 private:
  // A gradient scaler's step holds the optimizer's, and so may a range of the user.
  PhaseMark Innermost(const PhaseMark& outer) const {
    PhaseMark found = outer;
    for (size_t i = FirstFrom(optimizers_, outer.start_ns);
         i < optimizers_.size() && optimizers_[i].start_ns < outer.end_ns; ++i) {
      const std::string_view name = inputs_.store.Text(optimizers_[i].name);
      if (name.starts_with(kScalerPrefix)) continue;
      // PyTorch's own range inside has the name without the number of the object.
      const std::string_view known = inputs_.store.Text(found.name);
      if (ClassOf(known) != name) found = optimizers_[i];
    }
    return found;
  }

  // An optimizer that steps inside the backward, as its gradients come, ends with it.
  void Extend(Update& update, const PhaseMark& mark, const PhaseMark& named) const {
    update.end_ns = mark.end_ns;
    const size_t after = FirstFrom(backwards_, mark.start_ns);
    if (after > 0 && backwards_[after - 1].end_ns > mark.end_ns) {
      update.end_ns = backwards_[after - 1].end_ns;
    }
    const std::string_view name = inputs_.store.Text(named.name);
    update.name = named.name;
    const std::hash<std::string_view> hash;
    update.owner = update.owner * 31 + hash(name);
    update.family = update.family * 31 + hash(ClassOf(name));
  }

  static bool SeveralOwners(const std::vector<Update>& updates) {
    return std::any_of(updates.begin(), updates.end(),
                       [&](const Update& update) { return update.owner != updates.front().owner; });
  }

  // What is computed outside of backward and optimizer: the operators. Not the models called: a
  // critic and a generator may call the same ones.
  void NameWork(std::vector<Update>& updates) const {
    const OperatorCallsTable& calls = inputs_.store.operator_calls;
    const ThreadSpans::Rows rows = inputs_.operator_rows.Of(thread_);
    uint32_t row = rows.begin;
    for (Update& update : updates) {
      std::map<StringId, size_t> counts;
      for (; row < rows.end && calls.start_ns[row] < update.start_ns; ++row) {
        if (calls.depth[row] == 0 && !InBackward(calls.start_ns[row])) ++counts[calls.name[row]];
      }
      while (row < rows.end && calls.start_ns[row] < update.end_ns) ++row;
      uint64_t work = 0;
      for (const auto& [name, count] : counts)
        work += (name.row() + 1) * 0x9E3779B97F4A7C15 * count;
      update.work = work;
    }
  }

  void NameLoops(std::vector<Update>& updates) const {
    const ProcessId process = inputs_.store.ProcessOf(thread_);
    std::map<StringId, std::string_view> known;
    for (Update& update : updates) {
      const auto [loops, is_new] = known.try_emplace(update.name);
      if (is_new) {
        const std::string key = "optimizer.loops." + std::string(inputs_.store.Text(update.name));
        loops->second = inputs_.store.Property(key, process);
      }
      update.loops = loops->second;
    }
  }

  bool InBackward(int64_t time_ns) const {
    const size_t after = FirstFrom(backwards_, time_ns);
    return after > 0 && backwards_[after - 1].end_ns > time_ns;
  }

  const StepInputs& inputs_;
  ThreadId thread_;
  std::vector<PhaseMark> backwards_;
  std::vector<PhaseMark> optimizers_;  // inner ones too
  std::vector<PhaseMark> forwards_;
};

}  // namespace

std::vector<Update> OptimizerUpdates(const StepInputs& inputs, ThreadId thread) {
  return UpdateFinder(inputs, thread).FromOptimizers();
}

std::vector<Update> BackwardUpdates(const StepInputs& inputs, ThreadId thread) {
  return UpdateFinder(inputs, thread).FromBackwards();
}

std::string OptimizerName(std::string_view name) {
  return std::string(name.starts_with(kStepPrefix) ? name.substr(kStepPrefix.size()) : name);
}

ThreadId BusiestThread(const StepInputs& inputs, ProcessId process, PhaseKind kind) {
  ThreadId best;
  size_t most = 0;
  for (const ThreadId thread : inputs.threads_of_process[process.row()]) {
    const size_t count = inputs.marks.Outermost(thread, kind).size();
    if (count > most) {
      most = count;
      best = thread;
    }
  }
  return best;
}

}  // namespace batchlight
