#include "analysis/desync/desync.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "analysis/desync/desync_sentence.h"

namespace batchlight {
namespace {

// Of these every rank brings as much as any other: by PyTorch's names, and NCCL's own.
constexpr std::string_view kSameSize[] = {"all_reduce",
                                          "allreduce_coalesced",
                                          "all_reduce_barrier",
                                          "broadcast",
                                          "_broadcast_oop",
                                          "reduce",
                                          "_reduce_oop",
                                          "_all_gather_base",
                                          "all_gather_into_tensor_coalesced",
                                          "_reduce_scatter_base",
                                          "reduce_scatter_tensor_coalesced",
                                          "AllReduce",
                                          "Broadcast",
                                          "Reduce",
                                          "AllGather",
                                          "ReduceScatter"};

std::string CallText(const FlightCall& call) {
  if (call.elements == 0) return call.operation;
  return call.operation + " of " + CountWithCommas(call.elements) +
         (call.type.empty() ? "" : " " + call.type);
}

bool IsSame(const FlightCall& a, const FlightCall& b) {
  if (a.operation != b.operation) return false;
  const bool same_size =
      std::find(std::begin(kSameSize), std::end(kSameSize), a.operation) != std::end(kSameSize);
  return !same_size || (a.elements == b.elements && a.type == b.type);
}

// Calls of one number; several where they were made as one (coalesced).
using Calls = std::vector<const FlightCall*>;

struct MemberCalls {
  std::map<uint64_t, Calls> calls;  // by number
  uint64_t last = 0;
};

struct Group {
  std::string name;
  std::vector<int32_t> ranks;           // that it has
  std::map<int32_t, MemberCalls> came;  // ranks with calls in it
};

class Finder {
 public:
  explicit Finder(std::span<const FlightDump> dumps) : dumps_(dumps) {}

  DesyncResult Run() {
    for (const FlightDump& dump : dumps_) AddDump(dump);
    SayMissingDumps();
    for (const auto& [key, group] : groups_) Look(group);
    std::stable_sort(result_.found.begin(), result_.found.end(), [](const auto& a, const auto& b) {
      return std::pair(a.kind != DesyncKind::kDiffers, a.since_ns) <
             std::pair(b.kind != DesyncKind::kDiffers, b.since_ns);
    });
    NameSuspects();
    std::stable_sort(result_.ranks.begin(), result_.ranks.end(),
                     [](const LastCall& a, const LastCall& b) { return a.rank < b.rank; });
    return std::move(result_);
  }

 private:
  void AddDump(const FlightDump& dump) {
    if (!dumped_.insert(dump.rank).second) {
      result_.notes.push_back(dump.label + " is of rank " + std::to_string(dump.rank) +
                              ", as another is: left out");
      return;
    }
    LastCall& last = result_.ranks.emplace_back();
    last.rank = dump.rank;
    last.label = dump.label;
    std::vector<Group*> groups;
    for (const FlightGroup& one : dump.groups) groups.push_back(&GroupOf(one));
    for (const FlightCall& call : dump.calls) {
      Group& group = *groups[call.group];
      SetLast(group, call, last);
      result_.knows_starts = result_.knows_starts || call.state == FlightState::kStarted;
      if (call.between_two) {
        if (call.state != FlightState::kCompleted) between_two_.insert(dump.rank);
        continue;
      }
      MemberCalls& member = group.came[dump.rank];
      member.calls[call.number].push_back(&call);
      member.last = std::max(member.last, call.number);
    }
  }

  // Of several that have not ended the first: the others wait behind it.
  static void SetLast(const Group& group, const FlightCall& call, LastCall& last) {
    if (!last.call.empty() && last.state != FlightState::kCompleted) return;
    last.group = group.name;
    last.number = call.number;
    last.call = CallText(call);
    last.state = call.state;
    last.place = call.place;
  }

  // Groups of one name may be several, of other ranks.
  Group& GroupOf(const FlightGroup& one) {
    Group& group = groups_[{one.name, one.ranks}];
    if (group.name.empty()) {
      group.name = one.description.empty() || one.description == "undefined"
                       ? one.name
                       : one.name + " (" + one.description + ")";
      group.ranks = one.ranks;
      for (const int32_t rank : one.ranks) known_.insert(rank);
    }
    return group;
  }

  void SayMissingDumps() {
    std::string missing;
    size_t count = 0;
    for (const int32_t rank : known_) {
      if (dumped_.contains(rank)) continue;
      if (++count <= 8) missing += (count == 1 ? "" : ", ") + std::to_string(rank);
    }
    if (count == 0) return;
    result_.notes.push_back("of " + CountWithCommas(count) + " of " +
                            CountWithCommas(known_.size()) + " ranks there is no dump (" + missing +
                            (count > 8 ? ", ..." : "") + "): whether they came is not known");
  }

  void Look(const Group& group) {
    std::set<uint64_t> numbers;
    for (const auto& [rank, member] : group.came) {
      for (const auto& [number, calls] : member.calls) numbers.insert(number);
    }
    for (const uint64_t number : numbers) {
      if (LookAt(group, number)) return;
    }
  }

  // Whether something is wrong with the call.
  bool LookAt(const Group& group, uint64_t number) {
    std::vector<std::pair<int32_t, const Calls*>> came;
    std::vector<int32_t> missing;
    for (const auto& [rank, member] : group.came) {
      const auto own = member.calls.find(number);
      if (own != member.calls.end())
        came.emplace_back(rank, &own->second);
      else if (member.last < number)
        missing.push_back(rank);
    }
    for (const int32_t rank : group.ranks) {
      if (dumped_.contains(rank) && !group.came.contains(rank)) missing.push_back(rank);
    }
    std::sort(missing.begin(), missing.end());
    const FlightCall& usual = UsualOf(came);
    Desync found{
        .group = group.name, .number = number, .call = CallText(usual), .place = usual.place};
    found.group_ranks = std::max(group.ranks.size(), group.came.size());
    const FlightCall* other = nullptr;
    std::vector<int32_t> differing, not_begun;
    for (const auto& [rank, calls] : came) {
      const FlightCall& call = *calls->front();
      if (!IsSame(call, usual)) {
        differing.push_back(rank);
        if (other == nullptr) other = &call;
      }
      const bool ended = std::all_of(calls->begin(), calls->end(), [](const FlightCall* one) {
        return one->state == FlightState::kCompleted;
      });
      if (ended) continue;
      found.waiting.push_back(rank);
      if (call.state == FlightState::kScheduled && result_.knows_starts) not_begun.push_back(rank);
      if (found.since_ns == 0 || call.created_ns < found.since_ns) found.since_ns = call.created_ns;
    }
    if (other != nullptr) {
      found.kind = DesyncKind::kDiffers;
      found.others = differing;
      found.other_call = CallText(*other);
    } else if (found.waiting.empty()) {
      return false;  // what ended everywhere that it is known of is over
    } else if (!missing.empty()) {
      found.others = missing;
    } else {
      found.kind = DesyncKind::kUnfinished;
      found.others = not_begun;
    }
    result_.found.push_back(std::move(found));
    return true;
  }

  // What most ranks made, the first of these if there are as many of another.
  static const FlightCall& UsualOf(const std::vector<std::pair<int32_t, const Calls*>>& came) {
    const FlightCall* usual = came.front().second->front();
    size_t most = 0;
    for (const auto& [rank, calls] : came) {
      const auto same = static_cast<size_t>(
          std::count_if(came.begin(), came.end(), [&, of = calls](const auto& other) {
            return IsSame(*of->front(), *other.second->front());
          }));
      if (same <= most) continue;
      most = same;
      usual = calls->front();
      if (most * 2 > came.size()) break;
    }
    return *usual;
  }

  void NameSuspects() {
    std::set<int32_t> waiting = between_two_, wanted;
    for (const Desync& one : result_.found) {
      waiting.insert(one.waiting.begin(), one.waiting.end());
      if (one.kind == DesyncKind::kUnfinished) continue;
      wanted.insert(one.others.begin(), one.others.end());
    }
    for (const Desync& one : result_.found) {
      if (one.kind == DesyncKind::kDiffers) {
        for (const int32_t rank : one.others) waiting.erase(rank);
      }
    }
    std::set_difference(wanted.begin(), wanted.end(), waiting.begin(), waiting.end(),
                        std::back_inserter(result_.suspects));
  }

  std::span<const FlightDump> dumps_;
  std::map<std::pair<std::string, std::vector<int32_t>>, Group> groups_;
  std::set<int32_t> dumped_;
  std::set<int32_t> known_;        // by the groups
  std::set<int32_t> between_two_;  // that wait for what another sends or receives
  DesyncResult result_;
};

}  // namespace

DesyncResult FindDesync(std::span<const FlightDump> dumps) { return Finder(dumps).Run(); }

std::string_view FlightStateName(FlightState state, bool knows_starts) {
  if (state == FlightState::kCompleted) return "done";
  if (!knows_starts) return "not done";
  return state == FlightState::kStarted ? "running" : "not begun";
}

}  // namespace batchlight
