#include "analysis/owners/backward_links.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "analysis/numbers/closed_end.h"
#include "analysis/owners/engine_call.h"
#include "store/interval_index.h"

namespace batchlight {
namespace {

// The last operator of a thread that carries each sequence number. Numbers only grow on a thread,
// so appending keeps them sorted; the rare recording where they do not is sorted afterwards.
class ForwardOperators {
 public:
  void Reserve(size_t count) { entries_.reserve(count); }
  void Add(int64_t sequence, uint32_t row) {
    if (!entries_.empty() && entries_.back().sequence == sequence) {
      entries_.back().row = row;
      return;
    }
    sorted_ &= entries_.empty() || entries_.back().sequence < sequence;
    entries_.push_back({sequence, row});
  }
  void Finish() {
    if (sorted_) return;
    std::stable_sort(entries_.begin(), entries_.end(),
                     [](const Entry& a, const Entry& b) { return a.sequence < b.sequence; });
  }
  uint32_t Find(int64_t sequence) const {
    const auto after = std::upper_bound(
        entries_.begin(), entries_.end(), sequence,
        [](int64_t wanted, const Entry& entry) { return wanted < entry.sequence; });
    if (after == entries_.begin() || (after - 1)->sequence != sequence) return kNoRow;
    return (after - 1)->row;
  }
  bool empty() const { return entries_.empty(); }

 private:
  struct Entry {
    int64_t sequence;
    uint32_t row;
  };
  std::vector<Entry> entries_;
  bool sorted_ = true;
};

struct BackwardCall {
  uint32_t row;
  int64_t sequence;
  uint32_t forward_thread;
};

// Millions of entries that grow by doubling are copied and paged in twice.
void MakeRoom(const OperatorCallsTable& calls, std::vector<ForwardOperators>& forward,
              std::vector<BackwardCall>& backward) {
  std::vector<size_t> forward_counts(forward.size());
  size_t backward_count = 0;
  for (size_t row = 0; row < calls.size(); ++row) {
    if (calls.sequence[row] < 0 || calls.thread[row].IsNone()) continue;
    ++(calls.scope[row] == OperatorScope::kBackward ? backward_count
                                                    : forward_counts[calls.thread[row].row()]);
  }
  for (size_t row = 0; row < forward.size(); ++row) forward[row].Reserve(forward_counts[row]);
  backward.reserve(backward_count);
}

using PytorchThread = std::pair<ProcessId, uint32_t>;

// Which thread goes by a PyTorch thread number: the one on which most of the numbers occur.
std::map<PytorchThread, ThreadId> MatchThreads(
    const Store& store, const std::vector<ForwardOperators>& forward,
    const std::map<PytorchThread, std::vector<int64_t>>& samples) {
  std::map<PytorchThread, ThreadId> matched;
  for (const auto& [key, sequences] : samples) {
    size_t most = 0;
    for (size_t row = 0; row < forward.size(); ++row) {
      if (forward[row].empty() || store.threads.process[row] != key.first) continue;
      size_t count = 0;
      for (const int64_t sequence : sequences) count += forward[row].Find(sequence) != kNoRow;
      if (count > most) {
        most = count;
        matched[key] = ThreadId::At(row);
      }
    }
  }
  return matched;
}

}  // namespace

BackwardLinks::BackwardLinks(const Store& store) : store_(&store) {
  FindLinks();
  SetOwnTimes();
}

void BackwardLinks::FindLinks() {
  const OperatorCallsTable& calls = store_->operator_calls;
  std::vector<ForwardOperators> forward(store_->threads.size());
  std::vector<BackwardCall> backward;
  MakeRoom(calls, forward, backward);
  std::map<PytorchThread, std::vector<int64_t>> samples;
  constexpr size_t kSamples = 64;
  for (uint32_t row = 0; row < calls.size(); ++row) {
    if (calls.sequence[row] < 0 || calls.thread[row].IsNone()) continue;
    if (calls.scope[row] != OperatorScope::kBackward) {
      forward[calls.thread[row].row()].Add(calls.sequence[row], row);
      continue;
    }
    backward.push_back({row, calls.sequence[row], calls.forward_thread[row]});
    auto& sample = samples[{store_->ProcessOf(calls.thread[row]), calls.forward_thread[row]}];
    if (sample.size() < kSamples) sample.push_back(calls.sequence[row]);
  }
  for (ForwardOperators& operators : forward) operators.Finish();
  const auto threads = MatchThreads(*store_, forward, samples);
  links_.reserve(backward.size());
  for (const BackwardCall& call : backward) {
    const auto thread =
        threads.find({store_->ProcessOf(calls.thread[call.row]), call.forward_thread});
    if (thread == threads.end()) continue;
    const uint32_t found = forward[thread->second.row()].Find(call.sequence);
    if (found == kNoRow) continue;
    OperatorCallId outer = OperatorCallId::At(call.row);
    const OperatorCallId parent = calls.parent[call.row];
    if (!parent.IsNone() && store_->Text(calls.name[parent.row()]).starts_with(kEngineCall)) {
      outer = parent;
    }
    links_.push_back({outer, OperatorCallId::At(found)});
  }
  std::sort(links_.begin(), links_.end(),
            [](const BackwardLink& a, const BackwardLink& b) { return a.backward < b.backward; });
  // The engine's call and the function inside it carry the same number.
  const auto same = [](const BackwardLink& a, const BackwardLink& b) {
    return a.backward == b.backward && a.forward == b.forward;
  };
  links_.erase(std::unique(links_.begin(), links_.end(), same), links_.end());
}

void BackwardLinks::SetOwnTimes() {
  const OperatorCallsTable& calls = store_->operator_calls;
  std::vector<size_t> open;  // rows of links_, each inside the one before
  for (size_t i = 0; i < links_.size(); ++i) {
    const size_t row = links_[i].backward.row();
    const int64_t end = ClosedEnd(*store_, calls.start_ns[row], calls.end_ns[row]);
    links_[i].own_ns = end - calls.start_ns[row];
    while (!open.empty()) {
      const size_t around = links_[open.back()].backward.row();
      if (calls.thread[around] == calls.thread[row] &&
          calls.start_ns[row] < ClosedEnd(*store_, calls.start_ns[around], calls.end_ns[around])) {
        break;
      }
      open.pop_back();
    }
    if (!open.empty()) links_[open.back()].own_ns -= links_[i].own_ns;
    open.push_back(i);
  }
}

TimeSpan BackwardLinks::SpanOf(size_t link) const {
  const OperatorCallsTable& calls = store_->operator_calls;
  const size_t row = links_[link].backward.row();
  return {calls.start_ns[row], ClosedEnd(*store_, calls.start_ns[row], calls.end_ns[row])};
}

int64_t BackwardLinks::OwnNsWithin(size_t link, const TimeSpan& within) const {
  const std::vector<ThreadId>& threads = store_->operator_calls.thread;
  const TimeSpan call = SpanOf(link);
  int64_t own_ns = PartInside(call, within).duration_ns();
  int64_t inner_end_ns = INT64_MIN;
  for (size_t inner = link + 1; inner < links_.size(); ++inner) {
    const TimeSpan span = SpanOf(inner);
    if (threads[links_[inner].backward.row()] != threads[links_[link].backward.row()] ||
        span.start_ns >= call.end_ns) {
      break;
    }
    if (span.start_ns < inner_end_ns) continue;  // inside one that is inside
    own_ns -= PartInside(span, within).duration_ns();
    inner_end_ns = span.end_ns;
  }
  return own_ns;
}

size_t BackwardLinks::LinkAround(OperatorCallId call) const {
  if (links_.empty()) return 0;
  for (; !call.IsNone(); call = store_->operator_calls.parent[call.row()]) {
    const auto found = std::lower_bound(
        links_.begin(), links_.end(), call,
        [](const BackwardLink& link, OperatorCallId wanted) { return link.backward < wanted; });
    if (found != links_.end() && found->backward == call) return size_t(found - links_.begin());
  }
  return links_.size();
}

OperatorCallId BackwardLinks::ForwardOf(OperatorCallId call) const {
  const size_t link = LinkAround(call);
  return link == links_.size() ? OperatorCallId() : links_[link].forward;
}

bool BackwardLinks::IsInBackward(OperatorCallId call) const {
  for (; !call.IsNone(); call = store_->operator_calls.parent[call.row()]) {
    if (store_->operator_calls.scope[call.row()] == OperatorScope::kBackward) return true;
  }
  return false;
}

}  // namespace batchlight
