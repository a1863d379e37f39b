#include "analysis/breakdown/loop_owners.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

namespace batchlight {
namespace {

// Of a function's time, or of the model's: on the stack in so much of the model's phases, it runs
// the model. Less is a moment between two.
constexpr double kRunsModel = 0.1;
constexpr uint32_t kNobody = UINT32_MAX;

using Functions = std::map<FunctionName, int64_t>;

Functions ThatRunTheModel(const CodeSamples& samples, ThreadId thread,
                          const std::vector<TimeSpan>& beside, const std::vector<TimeSpan>& model) {
  Functions in_model = samples.OnStacks(thread, model);
  const Functions in_loop = samples.OnStacks(thread, beside);
  int64_t most_ns = 0;  // the outermost function is on all stacks
  for (const auto& [name, ns] : in_model) most_ns = std::max(most_ns, ns);
  std::erase_if(in_model, [&](const auto& function) {
    const auto found = in_loop.find(function.first);
    const int64_t beside_ns = found == in_loop.end() ? 0 : found->second;
    return double(function.second) < kRunsModel * double(function.second + beside_ns) &&
           double(function.second) < kRunsModel * double(most_ns);
  });
  return in_model;
}

class OwnerSearch {
 public:
  OwnerSearch(const CodeSamples& samples, Functions loop)
      : samples_(samples), loop_(std::move(loop)) {}

  LoopOwners Find(const std::vector<CodeLook>& looks, const std::vector<TimeSpan>& beside) {
    auto look = looks.begin();
    for (const TimeSpan& stretch : beside) {
      while (look != looks.end() && look->at_ns < stretch.start_ns) ++look;
      int64_t from_ns = stretch.start_ns;
      while (look != looks.end() && look->at_ns < stretch.end_ns) {
        const auto next = look + 1;
        const bool is_last = next == looks.end() || next->at_ns >= stretch.end_ns;
        const int64_t to_ns = is_last ? stretch.end_ns : (look->at_ns + next->at_ns) / 2;
        Add(from_ns, to_ns, OwnerOf(*look));
        from_ns = to_ns;
        look = next;
      }
    }
    ChooseLines();
    return std::move(found_);
  }

 private:
  void Add(int64_t from_ns, int64_t to_ns, uint32_t owner) {
    if (owner == kNobody || from_ns >= to_ns) return;
    std::vector<OwnedSpan>& spans = found_.spans;
    if (!spans.empty() && spans.back().end_ns == from_ns && spans.back().function == owner) {
      spans.back().end_ns = to_ns;
    } else {
      spans.push_back({from_ns, to_ns, owner});
    }
  }

  uint32_t OwnerOf(const CodeLook& look) {
    const auto [known, added] = by_stack_.try_emplace(look.stack, kNobody, 0);
    if (added) {
      const SampledFunction called = samples_.CalledOrInLoop(loop_, look.stack);
      if (called.line != 0) known->second = {RowOf(called), called.line};
    }
    const auto [row, line] = known->second;
    if (row == kNobody) return kNobody;
    LoopFunction& function = found_.functions[row];
    function.function.ns += look.ns;
    function.times += look.times;
    lines_[row][line] += look.ns;
    return row;
  }

  uint32_t RowOf(const SampledFunction& called) {
    const FunctionName name{called.file, called.function};
    const auto [row, added] = rows_.try_emplace(name, uint32_t(found_.functions.size()));
    if (added) {
      found_.functions.push_back({.function = called, .runs_model = loop_.contains(name)});
      lines_.emplace_back();
    }
    return row->second;
  }

  void ChooseLines() {
    for (size_t row = 0; row < lines_.size(); ++row) {
      const auto most =
          std::max_element(lines_[row].begin(), lines_[row].end(),
                           [](const auto& a, const auto& b) { return a.second < b.second; });
      if (most != lines_[row].end()) found_.functions[row].function.line = most->first;
    }
  }

  const CodeSamples& samples_;
  const Functions loop_;
  LoopOwners found_;
  std::map<FunctionName, uint32_t> rows_;
  std::vector<std::map<uint32_t, int64_t>> lines_;  // of each function: ns by line
  std::unordered_map<PythonStackId, std::pair<uint32_t, uint32_t>> by_stack_;  // row and line
};

}  // namespace

LoopOwners FindLoopOwners(const CodeSamples& samples, ThreadId thread,
                          const std::vector<TimeSpan>& beside, const std::vector<TimeSpan>& model) {
  if (samples.empty() || model.empty()) return {};
  return OwnerSearch(samples, ThatRunTheModel(samples, thread, beside, model))
      .Find(samples.LooksIn(thread, beside), beside);
}

}  // namespace batchlight
