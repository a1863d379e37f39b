#include "analysis/ranks/call_replay.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace batchlight {
namespace {

class Replay {
 public:
  Replay(std::span<const RankCalls* const> ranks, const std::vector<FirstNumbers>& first,
         const std::function<void(std::span<const CallOfRank>)>& visit)
      : ranks_(ranks), visit_(visit), at_(ranks.size()), places_(ranks.size()) {
    for (size_t rank = 0; rank < ranks.size(); ++rank) {
      for (const CallKind& kind : ranks[rank]->kinds) {
        places_[rank].of_kind.push_back(PlaceOf(rank, kind.communicator, first[rank]));
        const auto number = static_cast<uint32_t>(shapes_.size());
        places_[rank].shape.push_back(
            shapes_.try_emplace({kind.operation, kind.bytes}, number).first->second);
      }
    }
    CountCalls();
  }

  void Run() {
    std::vector<uint32_t> ready(ranks_.size());
    for (uint32_t rank = 0; rank < ready.size(); ++rank) ready[rank] = rank;
    while (true) {
      while (!ready.empty()) {
        const uint32_t rank = ready.back();
        ready.pop_back();
        Arrive(rank, ready);
      }
      if (!LetGo(ready)) break;
    }
    for (auto& [key, call] : open_) VisitByKind(call.came);
  }

 private:
  // A communicator as one rank sees it.
  struct Place {
    uint32_t communicator = 0;  // row of communicators_
    uint32_t next = 0;          // number of the rank's next call there
    uint32_t end = 0;           // one after that of its last
  };
  struct OpenCall {
    std::vector<CallOfRank> came;
    size_t gone = 0;  // of these, ranks that went on without the others
  };
  struct Places {
    std::vector<uint32_t> of_kind;  // row of `all`
    std::vector<uint32_t> shape;    // by kind: the same for the same operation and size
    std::vector<Place> all;
  };

  uint32_t PlaceOf(size_t rank, uint64_t communicator, const FirstNumbers& first) {
    const uint32_t row =
        numbers_.try_emplace(communicator, uint32_t(numbers_.size())).first->second;
    std::vector<Place>& all = places_[rank].all;
    for (uint32_t i = 0; i < all.size(); ++i) {
      if (all[i].communicator == row) return i;
    }
    const auto number = first.find(communicator);
    const uint32_t begin = number == first.end() ? 0 : number->second;
    all.push_back({row, begin, begin});
    return static_cast<uint32_t>(all.size() - 1);
  }

  // How many ranks take part in each call of each communicator.
  void CountCalls() {
    takers_.resize(numbers_.size());
    for (size_t rank = 0; rank < ranks_.size(); ++rank) {
      for (const uint16_t kind : ranks_[rank]->kind) {
        ++places_[rank].all[places_[rank].of_kind[kind]].end;
      }
      for (const Place& place : places_[rank].all) {
        std::vector<int32_t>& changes = takers_[place.communicator];
        if (changes.size() <= place.end) changes.resize(place.end + 1);
        ++changes[place.next];
        --changes[place.end];
      }
    }
    for (std::vector<int32_t>& changes : takers_) {
      for (size_t i = 1; i < changes.size(); ++i) changes[i] += changes[i - 1];
    }
  }

  Place& PlaceAt(uint32_t rank) {
    return places_[rank].all[places_[rank].of_kind[ranks_[rank]->kind[at_[rank]]]];
  }

  void Arrive(uint32_t rank, std::vector<uint32_t>& ready) {
    if (at_[rank] >= ranks_[rank]->size()) return;
    const Place& place = PlaceAt(rank);
    const uint64_t key = uint64_t{place.communicator} << 32 | place.next;
    OpenCall& call = open_[key];
    call.came.push_back({rank, at_[rank]});
    if (call.came.size() < static_cast<size_t>(takers_[place.communicator][place.next])) return;
    GoOn(call, ready);
    VisitByKind(call.came);
    open_.erase(key);
  }

  void GoOn(OpenCall& call, std::vector<uint32_t>& ready) {
    for (; call.gone < call.came.size(); ++call.gone) {
      const uint32_t rank = call.came[call.gone].rank;
      ++PlaceAt(rank).next;
      ++at_[rank];
      ready.push_back(rank);
    }
  }

  void VisitByKind(std::vector<CallOfRank>& came) {
    const auto shape_of = [&](const CallOfRank& one) {
      return places_[one.rank].shape[ranks_[one.rank]->kind[one.call]];
    };
    for (auto begin = came.begin(); begin != came.end();) {
      const uint32_t shape = shape_of(*begin);
      const auto same = [&](const CallOfRank& one) { return shape_of(one) == shape; };
      auto end = std::find_if_not(begin, came.end(), same);
      if (end != came.end()) end = std::stable_partition(begin, came.end(), same);
      visit_({begin, end});
      begin = end;
    }
  }

  // All ranks wait: those at the call that most have come to go on. False: there are none.
  bool LetGo(std::vector<uint32_t>& ready) {
    OpenCall* most = nullptr;
    uint64_t most_key = 0;
    for (auto& [key, call] : open_) {
      if (call.gone == call.came.size()) continue;
      const size_t came = call.came.size();
      const bool more = most == nullptr || came > most->came.size();
      if (!more && (came < most->came.size() || key > most_key)) continue;
      most = &call;
      most_key = key;
    }
    if (most == nullptr) return false;
    GoOn(*most, ready);
    return true;
  }

  std::span<const RankCalls* const> ranks_;
  const std::function<void(std::span<const CallOfRank>)>& visit_;
  std::vector<uint32_t> at_;  // next call of each rank
  std::vector<Places> places_;
  std::map<std::pair<std::string_view, uint64_t>, uint32_t> shapes_;
  std::unordered_map<uint64_t, uint32_t> numbers_;  // of communicators
  std::vector<std::vector<int32_t>> takers_;        // by communicator and number
  std::unordered_map<uint64_t, OpenCall> open_;
};

}  // namespace

void ReplayCalls(std::span<const RankCalls* const> ranks, const std::vector<FirstNumbers>& first,
                 const std::function<void(std::span<const CallOfRank>)>& visit) {
  Replay(ranks, first, visit).Run();
}

}  // namespace batchlight
