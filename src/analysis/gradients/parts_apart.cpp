#include "analysis/gradients/parts_apart.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "analysis/owners/backward_links.h"
#include "analysis/phases/phase_marks.h"
#include "store/interval_index.h"

namespace batchlight {

PartsApart::PartsApart(const Store& store, ProcessId process, const BackwardLinks& links,
                       const std::vector<PhaseMark>& backwards,
                       std::vector<std::string_view> updated)
    : store_(store), updated_(std::move(updated)) {
  const std::vector<Forward> forwards = FindForwards(process, links);
  for (const Forward& forward : forwards) {
    if (forward.call != kNoRow) SetTop(forward.call);
  }
  std::unordered_set<uint32_t> begun;  // tops that an operator before was in
  bool only_apart = true;              // since the graph began
  auto backward = backwards.begin();
  for (const Forward& forward : forwards) {
    for (; backward != backwards.end() && backward->end_ns <= forward.start_ns; ++backward) {
      only_apart = true;
    }
    const uint32_t top = forward.call == kNoRow ? kNoRow : tops_.at(forward.call);
    if (top == kNoRow) {
      only_apart = false;
    } else if (begun.insert(top).second) {
      const StringId path = store_.module_calls.path[top];
      const bool is_apart = only_apart || forward.embeds;
      const auto [known, added] = apart_.try_emplace(path.value, is_apart);
      known->second = known->second && is_apart;
      only_apart = only_apart && is_apart;
    }
  }
  AddGiven(store_.Property("model.given_no_gradient", process));
}

// What comes before them in the graph says nothing then: a loss may call its teacher behind the
// student.
void PartsApart::AddGiven(std::string_view paths) {
  std::unordered_set<std::string_view> given;
  while (!paths.empty()) {
    const size_t end = std::min(paths.find('\n'), paths.size());
    given.insert(paths.substr(0, end));
    paths.remove_prefix(std::min(paths.size(), end + 1));
  }
  for (const auto& [path, holds_updated] : holds_updated_) {
    if (!holds_updated && given.contains(store_.Text(StringId{path}))) apart_[path] = true;
  }
}

std::vector<PartsApart::Forward> PartsApart::FindForwards(ProcessId process,
                                                          const BackwardLinks& links) {
  const OperatorCallsTable& operators = store_.operator_calls;
  const ModuleCallsTable& modules = store_.module_calls;
  const IntervalIndex in_modules(modules.thread, modules.start_ns, modules.end_ns);
  std::vector<Forward> forwards;
  for (const BackwardLink& link : links.links()) {
    if (store_.ProcessOf(operators.thread[link.backward.row()]) != process) continue;
    const size_t row = link.forward.row();
    const int64_t start_ns = operators.start_ns[row];
    const uint32_t innermost = in_modules.Innermost(operators.thread[row], start_ns);
    forwards.push_back(
        {start_ns, innermost, store_.Text(operators.name[row]) == "aten::embedding"});
    bool touches = false;
    for (uint32_t call = innermost; call != kNoRow;) {
      touches = Touches(modules.path[call]) || touches;
      bool& holds_updated = holds_updated_[modules.path[call].value];
      holds_updated = holds_updated || touches;
      const ModuleCallId parent = modules.parent[call];
      call = parent.IsNone() ? kNoRow : uint32_t(parent.row());
    }
  }
  std::stable_sort(forwards.begin(), forwards.end(),
                   [](const Forward& a, const Forward& b) { return a.start_ns < b.start_ns; });
  return forwards;
}

bool PartsApart::Touches(StringId path) {
  const auto [known, added] = touches_.try_emplace(path.value, false);
  if (added) {
    const std::string_view text = store_.Text(path);
    known->second = std::any_of(updated_.begin(), updated_.end(), [&](std::string_view update) {
      return IsAtOrBelow(text, update) || IsAtOrBelow(update, text);
    });
  }
  return known->second;
}

void PartsApart::SetTop(uint32_t call) {
  const auto [known, added] = tops_.try_emplace(call, kNoRow);
  if (!added) return;
  const ModuleCallsTable& modules = store_.module_calls;
  uint32_t top = kNoRow;
  for (uint32_t at = call; at != kNoRow;) {
    const ModuleCallId parent = modules.parent[at];
    // A model's own path says nothing of its parts' paths.
    const bool touches =
        parent.IsNone() ? holds_updated_.at(modules.path[at].value) : Touches(modules.path[at]);
    if (touches) break;
    top = at;
    at = parent.IsNone() ? kNoRow : uint32_t(parent.row());
  }
  known->second = top;
}

StringId PartsApart::Around(uint32_t call) const {
  const ModuleCallsTable& modules = store_.module_calls;
  StringId path;
  for (ModuleCallId at = ModuleCallId::At(call); !at.IsNone(); at = modules.parent[at.row()]) {
    if (Holds(modules.path[at.row()])) path = modules.path[at.row()];
  }
  return path;
}

}  // namespace batchlight
