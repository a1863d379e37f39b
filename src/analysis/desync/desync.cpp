#include "analysis/desync/desync.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>
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

std::string CallText(const std::string& operation, uint64_t elements, const std::string& type) {
  if (elements == 0) return operation;
  return operation + " of " + CountWithCommas(elements) + (type.empty() ? "" : " " + type);
}

std::string CallText(const FlightCall& call) {
  return CallText(call.operation, call.elements, call.type);
}

// What was called, and where; many calls of many ranks share it.
struct Made {
  std::string operation;
  uint64_t elements = 0;
  std::string type;
  std::string place;
  uint32_t same = 0;  // equal where ranks made the same call, as far as they have to
};

// A call of a rank. Calls of one number are several where they were made as one (coalesced).
struct Row {
  uint64_t number = 0;
  int32_t rank = -1;
  uint32_t order = 0;  // in its dump
  uint32_t made = 0;
  uint32_t open = 0;  // row of what has not ended
};
static_assert(sizeof(Row) == 24);  // a job has millions

constexpr uint32_t kEnded = UINT32_MAX;

struct OpenCall {
  int64_t created_ns = 0;
  FlightState state = FlightState::kScheduled;
};

struct Group {
  std::string name;
  std::vector<int32_t> ranks;        // that it has
  std::deque<Row> rows;              // which does not move them when it grows
  std::map<int32_t, uint64_t> last;  // of ranks with calls in it the last number
};

// A text that no other fields have.
void AddField(std::string_view field, std::string& key) {
  key += std::to_string(field.size());
  key += ' ';
  key += field;
}

}  // namespace

class DesyncFinder::Finder {
 public:
  DesyncResult Finish() {
    SayMissingDumps();
    for (auto& [key, group] : groups_) Look(group);
    std::stable_sort(result_.found.begin(), result_.found.end(), [](const auto& a, const auto& b) {
      return std::pair(a.kind != DesyncKind::kDiffers, a.since_ns) <
             std::pair(b.kind != DesyncKind::kDiffers, b.since_ns);
    });
    NameSuspects();
    std::stable_sort(result_.ranks.begin(), result_.ranks.end(),
                     [](const LastCall& a, const LastCall& b) { return a.rank < b.rank; });
    return std::move(result_);
  }

  void AddDump(const FlightDump& dump) {
    if (!dumped_.insert(dump.rank).second) {
      result_.notes.push_back(dump.label + " is of rank " + std::to_string(dump.rank) +
                              ", as another is: left out");
      return;
    }
    std::vector<Group*> groups;
    for (const FlightGroup& one : dump.groups) groups.push_back(&GroupOf(one));
    const FlightCall* last = nullptr;
    for (const FlightCall& call : dump.calls) {
      // Of several that have not ended the first: the others wait behind it.
      if (last == nullptr || last->state == FlightState::kCompleted) last = &call;
      result_.knows_starts = result_.knows_starts || call.state == FlightState::kStarted;
      if (call.between_two) {
        if (call.state != FlightState::kCompleted) between_two_.insert(dump.rank);
        continue;
      }
      Group& group = *groups[call.group];
      uint64_t& last_number = group.last[dump.rank];
      last_number = std::max(last_number, call.number);
      group.rows.push_back({.number = call.number,
                            .rank = dump.rank,
                            .order = static_cast<uint32_t>(&call - dump.calls.data()),
                            .made = MadeOf(call),
                            .open = OpenOf(call)});
    }
    LastCall& kept = result_.ranks.emplace_back();
    kept.rank = dump.rank;
    kept.label = dump.label;
    if (last == nullptr) return;
    kept.group = groups[last->group]->name;
    kept.number = last->number;
    kept.call = CallText(*last);
    kept.state = last->state;
    kept.place = last->place;
  }

 private:
  uint32_t OpenOf(const FlightCall& call) {
    if (call.state == FlightState::kCompleted) return kEnded;
    open_.push_back({.created_ns = call.created_ns, .state = call.state});
    return static_cast<uint32_t>(open_.size() - 1);
  }

  uint32_t MadeOf(const FlightCall& call) {
    key_.clear();
    AddField(call.operation, key_);
    const size_t operation_end = key_.size();
    AddField(call.type, key_);
    key_ += std::to_string(call.elements);
    const size_t size_end = key_.size();
    key_ += ' ';
    key_ += call.place;
    const auto known = made_rows_.find(key_);
    if (known != made_rows_.end()) return known->second;
    const auto row = static_cast<uint32_t>(made_.size());
    made_rows_.emplace(key_, row);
    const bool same_size = std::find(std::begin(kSameSize), std::end(kSameSize), call.operation) !=
                           std::end(kSameSize);
    key_.resize(same_size ? size_end : operation_end);
    made_.push_back({.operation = call.operation,
                     .elements = call.elements,
                     .type = call.type,
                     .place = call.place,
                     .same = same_rows_.try_emplace(key_, row).first->second});
    return row;
  }

  // Groups of one name may be several, of other ranks.
  Group& GroupOf(const FlightGroup& one) {
    Group& group = groups_[{one.name, one.ranks}];
    if (group.name.empty()) {
      group.name = one.description.empty() || one.description == "undefined"
                       ? one.name
                       : one.name + " (" + one.description + ")";
      group.ranks = one.ranks;
      for (const int32_t rank : one.ranks) known_.insert(known_.end(), rank);
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

  // The rows of all ranks, number by number, until something is wrong with one.
  void Look(Group& group) {
    std::sort(group.rows.begin(), group.rows.end(), [](const Row& a, const Row& b) {
      return std::tie(a.number, a.rank, a.order) < std::tie(b.number, b.rank, b.order);
    });
    for (size_t begin = 0, end = 0; begin < group.rows.size(); begin = end) {
      const uint64_t number = group.rows[begin].number;
      while (end < group.rows.size() && group.rows[end].number == number) ++end;
      if (LookAt(group, begin, end)) return;
    }
  }

  // Whether something is wrong with the call of these rows.
  bool LookAt(const Group& group, size_t begin, size_t end) {
    const uint32_t usual = UsualOf(group, begin, end);
    std::vector<int32_t> differing, waiting, not_begun;
    uint32_t other = 0;
    int64_t since_ns = 0;
    for (size_t first = begin, next = begin; first < end; first = next) {
      const Row& call = group.rows[first];
      uint32_t open_row = kEnded;
      for (; next < end && group.rows[next].rank == call.rank; ++next) {
        if (open_row == kEnded) open_row = group.rows[next].open;
      }
      if (made_[call.made].same != made_[usual].same) {
        if (differing.empty()) other = call.made;
        differing.push_back(call.rank);
      }
      if (open_row == kEnded) continue;
      waiting.push_back(call.rank);
      const OpenCall& open = open_[open_row];
      if (open.state == FlightState::kScheduled && result_.knows_starts) {
        not_begun.push_back(call.rank);
      }
      if (since_ns == 0 || open.created_ns < since_ns) since_ns = open.created_ns;
    }
    // What ended everywhere that it is known of is over.
    if (differing.empty() && waiting.empty()) return false;
    const Made& made = made_[usual];
    Desync& found = result_.found.emplace_back();
    found.group = group.name;
    found.group_ranks = std::max(group.ranks.size(), group.last.size());
    found.number = group.rows[begin].number;
    found.call = TextOf(made);
    found.place = made.place;
    found.since_ns = since_ns;
    found.waiting = std::move(waiting);
    if (!differing.empty()) {
      found.kind = DesyncKind::kDiffers;
      found.others = std::move(differing);
      found.other_call = TextOf(made_[other]);
      return true;
    }
    found.others = MissingIn(group, found.number);
    if (!found.others.empty()) return true;
    found.kind = DesyncKind::kUnfinished;
    found.others = std::move(not_begun);
    return true;
  }

  static std::string TextOf(const Made& made) {
    return CallText(made.operation, made.elements, made.type);
  }

  // Ranks with a dump that did not come to this number.
  std::vector<int32_t> MissingIn(const Group& group, uint64_t number) const {
    std::vector<int32_t> missing;
    for (const auto& [rank, last] : group.last) {
      if (last < number) missing.push_back(rank);
    }
    for (const int32_t rank : group.ranks) {
      if (dumped_.contains(rank) && !group.last.contains(rank)) missing.push_back(rank);
    }
    std::sort(missing.begin(), missing.end());
    return missing;
  }

  // What most ranks made, the first of these if there are as many of another.
  uint32_t UsualOf(const Group& group, size_t begin, size_t end) const {
    std::map<uint32_t, size_t> counts;  // by what is the same
    for (size_t i = begin; i < end; ++i) {
      if (IsFirstOfRank(group, begin, i)) ++counts[made_[group.rows[i].made].same];
    }
    size_t usual = begin, most = 0;
    for (size_t i = begin; i < end && counts.size() > 1; ++i) {
      if (!IsFirstOfRank(group, begin, i)) continue;
      const size_t count = counts[made_[group.rows[i].made].same];
      if (count > most) usual = i;
      most = std::max(most, count);
    }
    return group.rows[usual].made;
  }

  static bool IsFirstOfRank(const Group& group, size_t begin, size_t row) {
    return row == begin || group.rows[row].rank != group.rows[row - 1].rank;
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

  std::string key_;
  std::vector<Made> made_;
  std::unordered_map<std::string, uint32_t> made_rows_, same_rows_;
  std::vector<OpenCall> open_;
  std::map<std::pair<std::string, std::vector<int32_t>>, Group> groups_;
  std::set<int32_t> dumped_;
  std::set<int32_t> known_;        // by the groups
  std::set<int32_t> between_two_;  // that wait for what another sends or receives
  DesyncResult result_;
};

DesyncFinder::DesyncFinder() : finder_(std::make_unique<Finder>()) {}
DesyncFinder::~DesyncFinder() = default;
void DesyncFinder::Add(const FlightDump& dump) { finder_->AddDump(dump); }
DesyncResult DesyncFinder::Finish() { return finder_->Finish(); }

DesyncResult FindDesync(std::span<const FlightDump> dumps) {
  DesyncFinder finder;
  for (const FlightDump& dump : dumps) finder.Add(dump);
  return finder.Finish();
}

std::string_view FlightStateName(FlightState state, bool knows_starts) {
  if (state == FlightState::kCompleted) return "done";
  if (!knows_starts) return "not done";
  return state == FlightState::kStarted ? "running" : "not begun";
}

}  // namespace batchlight
