#include "analysis/forward/seen_operands.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "analysis/numbers/closed_end.h"
#include "analysis/owners/autograd_numbers.h"
#include "analysis/owners/backward_links.h"
#include "analysis/steps/step_lookup.h"
#include "base/split.h"
#include "store/interval_index.h"

namespace batchlight {
namespace {

template <typename Number>
bool TakeCount(std::string_view& text, Number& number) {
  return ReadNumber(TakeUntil(text, ' '), number) && number > 0;
}

// The most that are read; what is recorded are fewer (torch_operands.h).
constexpr size_t kMostEntries = 16, kMostStretches = 16;

// An operator as the property names it.
struct NumberedCall {
  std::string_view name;
  int64_t number = -1;
};

// "sub:101"
bool ReadCall(std::string_view text, NumberedCall& call) {
  call.name = TakeUntil(text, ':');
  return ReadNumber(text, call.number) && call.number >= 0;
}

struct Stretch {
  NumberedCall first, last;
};

struct Entry {
  SeenOperands seen;
  std::vector<Stretch> stretches;
};

bool ReadKind(std::string_view name, OperandKind& kind) {
  static constexpr auto kKinds =
      std::to_array<std::pair<std::string_view, OperandKind>>({{"squared", OperandKind::kSquared},
                                                               {"absolute", OperandKind::kAbsolute},
                                                               {"norm", OperandKind::kNorm},
                                                               {"product", OperandKind::kProduct},
                                                               {"cosine", OperandKind::kCosine}});
  for (const auto& [known, of_it] : kKinds) {
    if (known != name) continue;
    kind = of_it;
    return true;
  }
  return false;
}

bool ReadEntry(std::string_view text, Entry& entry) {
  SeenOperands& seen = entry.seen;
  const std::string_view what = TakeUntil(text, ' ');
  if (what == "broadcast") {
    if (!ReadKind(TakeUntil(text, ' '), seen.kind)) return false;
    seen.shape = TakeUntil(text, ' ');
    if (!TakeCount(text, seen.summed)) return false;
  } else if (what == "indexed") {
    seen.kind = OperandKind::kIndexed;
    if (!TakeCount(text, seen.rows) || !TakeCount(text, seen.indices) ||
        !TakeCount(text, seen.width)) {
      return false;
    }
  } else {
    return false;
  }
  if (!TakeCount(text, seen.calls)) return false;
  while (!text.empty() && entry.stretches.size() < kMostStretches) {
    std::string_view calls = TakeUntil(text, ' ');
    Stretch stretch;
    if (!ReadCall(TakeUntil(calls, '-'), stretch.first)) return false;
    stretch.last = stretch.first;
    if (!calls.empty() && !ReadCall(calls, stretch.last)) return false;
    entry.stretches.push_back(stretch);
  }
  seen.named = entry.stretches.size();
  return seen.named > 0 && seen.calls >= seen.named;
}

// The last one may be cut off.
std::vector<Entry> ReadEntries(std::string_view property) {
  std::vector<Entry> entries;
  for (size_t i = 0; i < kMostEntries && !property.empty(); ++i) {
    Entry entry;
    if (ReadEntry(TakeUntil(property, ';'), entry)) entries.push_back(std::move(entry));
  }
  return entries;
}

class OperandFinder {
 public:
  OperandFinder(const Store& store, const ProcessSteps& main, const BackwardLinks& links,
                const std::vector<Entry>& entries)
      : store_(store), operators_(store.operator_calls), main_(main), links_(links) {
    for (const Entry& entry : entries) {
      for (const Stretch& stretch : entry.stretches) {
        rows_of_[stretch.first.number][stretch.first.name];
        rows_of_[stretch.last.number][stretch.last.name];
      }
    }
    const ThreadSpans::Rows rows = ThreadSpans(operators_.thread).Of(main.thread);
    // Autograd's numbers of a thread only grow; an operator that it does not follow has none, or
    // that of the next.
    int64_t number = -1;
    for (uint32_t row = rows.begin; row < rows.end; ++row) {
      if (operators_.scope[row] != OperatorScope::kFunction) continue;
      const int64_t own = operators_.sequence[row];
      number = std::max(number, own);
      if (own >= 0) Keep(row, own, &Rows::numbered);
      // Behind the last number is before the next: what was looked at may say either.
      if (own < 0 && number >= 0) Keep(row, number + 1, &Rows::unnumbered);
      if (own < 0 && number >= 0) Keep(row, number, &Rows::unnumbered);
    }
    begin_ = rows.begin;
    end_ = rows.end;
  }

  void Find(const Entry& entry, SeenOperands& seen) {
    seen.part.is_operator.resize(operators_.size());
    StepLookup steps(&main_);
    std::set<size_t> found_in;
    for (const Stretch& stretch : entry.stretches) {
      const uint32_t first = RowOf(stretch.first, kNoRow);
      if (first == kNoRow) continue;
      const bool is_one =
          stretch.last.name == stretch.first.name && stretch.last.number == stretch.first.number;
      const uint32_t last = is_one ? first : RowOf(stretch.last, first);
      if (last == kNoRow) continue;
      const size_t step = steps.RowAt(operators_.start_ns[first]);
      if (step == StepLookup::kNone || steps.RowAt(operators_.start_ns[last]) != step) continue;
      found_in.insert(step);
      Add(first, EndOf(last), seen);
    }
    for (const size_t step : found_in) {
      seen.steps_ns += main_.steps[step].end_ns - main_.steps[step].start_ns;
    }
    seen.steps = found_in.size();
    std::sort(seen.spans.begin(), seen.spans.end(),
              [](const TimeSpan& a, const TimeSpan& b) { return a.start_ns < b.start_ns; });
  }

 private:
  int64_t EndOf(uint32_t row) const {
    return ClosedEnd(store_, operators_.start_ns[row], operators_.end_ns[row]);
  }

  struct Rows {
    std::vector<uint32_t> numbered, unnumbered;
  };

  // An operator that may be one of those that are looked for.
  void Keep(uint32_t row, int64_t number, std::vector<uint32_t> Rows::*which) {
    const auto wanted = rows_of_.find(number);
    if (wanted == rows_of_.end()) return;
    std::string_view name = store_.Text(operators_.name[row]);
    if (!name.starts_with("aten::")) return;
    name.remove_prefix(6);
    if (name.ends_with('_')) name.remove_suffix(1);
    const auto rows = wanted->second.find(name);
    if (rows != wanted->second.end()) (rows->second.*which).push_back(row);
  }

  // The longest that is not taken, of those with that name and number; behind row `from`, if any,
  // the next.
  uint32_t RowOf(const NumberedCall& call, uint32_t from) {
    uint32_t best = kNoRow;
    const auto look = [&](const std::vector<uint32_t>& rows) {
      for (const uint32_t row : rows) {
        if ((from != kNoRow && row <= from) || taken_.contains(row)) continue;
        if (links_.IsInBackward(OperatorCallId::At(row))) continue;
        if (best == kNoRow || (from == kNoRow ? Length(row) > Length(best) : row < best))
          best = row;
      }
    };
    const Rows& rows = rows_of_[call.number][call.name];
    look(rows.numbered);
    if (best == kNoRow) look(rows.unnumbered);
    if (best != kNoRow) taken_.insert(best);
    return best;
  }

  // Large tensors go back to the system when Python lets go of them, before the next operator.
  int64_t FreeingNs(int64_t end_ns, int64_t at_most) const {
    const auto next = std::lower_bound(operators_.start_ns.begin() + begin_,
                                       operators_.start_ns.begin() + end_, end_ns);
    if (next == operators_.start_ns.begin() + end_) return 0;
    return std::min(*next - end_ns, at_most);
  }

  int64_t Length(uint32_t row) const { return EndOf(row) - operators_.start_ns[row]; }

  void Add(uint32_t first, int64_t end_ns, SeenOperands& seen) const {
    seen.spans.push_back({operators_.start_ns[first], end_ns});
    for (uint32_t row = first; row < end_ && operators_.start_ns[row] < end_ns; ++row) {
      seen.part.is_operator[row] = operators_.scope[row] == OperatorScope::kFunction;
    }
    const int64_t ns = end_ns - operators_.start_ns[first];
    seen.part.cpu_ns += ns + FreeingNs(end_ns, ns / 2);
    if (seen.part.count++ > 0) return;
    const ModuleCallsTable& modules = store_.module_calls;
    const IntervalIndex in_modules(modules.thread, modules.start_ns, modules.end_ns);
    const uint32_t call = in_modules.Innermost(main_.thread, operators_.start_ns[first]);
    if (call == kNoRow) return;
    seen.part.module = modules.path[call];
    seen.part.class_name = modules.class_name[call];
  }

  const Store& store_;
  const OperatorCallsTable& operators_;
  const ProcessSteps& main_;
  const BackwardLinks& links_;
  std::map<int64_t, std::map<std::string_view, Rows>> rows_of_;  // by number and name
  std::set<uint32_t> taken_;
  uint32_t begin_ = 0, end_ = 0;
};

}  // namespace

std::vector<SeenOperands> FindSeenOperands(const Store& store, const ProcessSteps* main,
                                           const BackwardLinks& links, const Attribution& work) {
  std::vector<SeenOperands> all;
  if (main == nullptr || main->thread.IsNone()) return all;
  const std::vector<Entry> entries = ReadEntries(store.Property("forward.operands", main->process));
  if (entries.empty()) return all;
  OperandFinder finder(store, *main, links, entries);
  for (const Entry& entry : entries) {
    SeenOperands seen = entry.seen;
    finder.Find(entry, seen);
    if (seen.part.count > 0) all.push_back(std::move(seen));
  }
  for (const BackwardLink& link : links.links()) {
    for (SeenOperands& seen : all) {
      if (!seen.part.is_operator[link.forward.row()]) continue;
      seen.part.cpu_ns += link.own_ns;
      seen.part.backward_ns += link.own_ns;
      seen.part.learns = true;
    }
  }
  VisitWork(store, work, [&](const WorkOwner& owner, int64_t ns, int64_t) {
    for (SeenOperands& seen : all) {
      if (!seen.part.Launched(owner)) continue;
      seen.part.gpu_ns += ns;
      if (owner.backward) seen.gpu_backward_ns += ns;
    }
  });
  return all;
}

}  // namespace batchlight
