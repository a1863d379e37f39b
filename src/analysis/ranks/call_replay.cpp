#include "analysis/ranks/call_replay.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/thread_pool.h"

namespace batchlight {
namespace {

// The replay goes through all ranks for every call, so that what it needs of a rank lies together:
// columns of ten thousand ranks begin at the same place of a page, and a processor keeps but a few
// lines of memory that do.
constexpr size_t kAhead = 64;    // calls
constexpr size_t kFetched = 12;  // ranks before their turn

constexpr size_t kKept = 1 << 18;          // calls of ranks, 5 MB, until they are visited
constexpr size_t kBesideFrom = 8 * kKept;  // with fewer a second thread is not worth it

// Calls that may be looked at where all ranks wait. A job of a thousand ranks looks at some
// thousands each time, and hardly waits so; a forged one may at each of its calls.
constexpr uint64_t kMostLooks = 100'000'000;

struct NextCall {
  uint32_t kind = 0;  // row of the kinds of all ranks
  uint32_t kernel = 0;
  uint32_t exposed = 0;
  uint32_t step = 0;
};
using NextCalls = std::array<NextCall, kAhead>;  // call i at i % kAhead

// The calls of a rank; the rank itself lies far away.
struct CallColumns {
  const uint16_t* kind;
  const uint32_t* kernel;
  const uint32_t* exposed;
  const uint32_t* step_begin;
  uint32_t steps;
};

struct Progress {
  uint32_t at = 0;  // the next call
  uint32_t end = 0;
  uint32_t step = 0;  // of the calls that were taken ahead, the last one's, or the first after it
};

class Replay {
 public:
  Replay(std::span<const RankCalls* const> ranks, const std::vector<FirstNumbers>& first,
         const std::function<void(std::span<const CallOfRank>)>& visit)
      : ranks_(ranks), visit_(visit), next_(ranks.size()) {
    for (size_t rank = 0; rank < ranks.size(); ++rank) AddRank(rank, first[rank]);
    CountCalls();
    for (uint32_t rank = 0; rank < next_.size(); ++rank) {
      Refill(rank);
      ready_.push_back(rank);
    }
  }

  // Goes on until about so many calls of ranks more were made. False: all are visited.
  bool Advance(size_t calls) {
    const uint64_t until = calls < UINT64_MAX - made_ ? made_ + calls : UINT64_MAX;
    do {
      while (!ready_.empty()) {
        if (made_ >= until) return true;
        const uint32_t rank = ready_.back();
        ready_.pop_back();
        if (ready_.size() >= kFetched) FetchAhead(ready_[ready_.size() - kFetched]);
        ++made_;
        Arrive(rank, ready_);
      }
    } while (LetGo(ready_));
    for (Communicator& communicator : communicators_) {
      Visit(communicator.now);
      for (auto& [number, call] : communicator.others) Visit(call);
    }
    return false;
  }

 private:
  // A communicator as one rank sees it.
  struct Place {
    uint32_t communicator = 0;  // row of communicators_
    uint32_t next = 0;          // number of the rank's next call there
    uint32_t end = 0;           // one after that of its last
  };
  struct Kind {
    uint32_t place = 0;
    uint32_t shape = 0;  // the same for the same operation and size
    bool between_two = false;
  };
  struct OpenCall {
    std::vector<CallOfRank> came;
    size_t gone = 0;       // of these, ranks that went on without the others
    uint32_t shape = 0;    // of the first that came
    bool differs = false;  // another's is another
  };
  // Almost always one call is open, and the next one follows.
  struct Communicator {
    uint32_t number = 0;                            // of `now`
    OpenCall now;                                   // may be one to which none has come
    std::unordered_map<uint32_t, OpenCall> others;  // by number
    std::vector<int32_t> takers;                    // ranks that take part, by number
  };

  void AddRank(size_t rank, const FirstNumbers& first) {
    const RankCalls& calls = *ranks_[rank];
    const size_t steps = calls.step_begin.empty() ? 0 : calls.step_begin.size() - 1;
    columns_.push_back({calls.kind.data(), calls.kernel.data(), calls.exposed.data(),
                        calls.step_begin.data(), static_cast<uint32_t>(steps)});
    progress_.push_back({.end = static_cast<uint32_t>(calls.size())});
    first_kind_.push_back(static_cast<uint32_t>(kinds_.size()));
    std::unordered_map<uint32_t, uint32_t> own;  // row of places_, by that of communicators_
    for (const CallKind& kind : ranks_[rank]->kinds) {
      const auto shape = static_cast<uint32_t>(shapes_.size());
      kinds_.push_back({PlaceOf(own, kind.communicator, first),
                        shapes_.try_emplace({kind.operation, kind.bytes}, shape).first->second,
                        IsBetweenTwo(kind.operation)});
    }
  }

  // `own`: the places of the rank.
  uint32_t PlaceOf(std::unordered_map<uint32_t, uint32_t>& own, uint64_t id,
                   const FirstNumbers& first) {
    const auto row = static_cast<uint32_t>(communicators_.size());
    const auto [communicator, is_new] = rows_.try_emplace(id, row);
    if (is_new) communicators_.emplace_back();
    const auto next = static_cast<uint32_t>(places_.size());
    const auto [place, is_first] = own.try_emplace(communicator->second, next);
    if (!is_first) return place->second;
    const auto number = first.find(id);
    const uint32_t begin = number == first.end() ? 0 : number->second;
    places_.push_back({communicator->second, begin, begin});
    return next;
  }

  // How many ranks take part in each call of each communicator.
  void CountCalls() {
    for (size_t rank = 0; rank < ranks_.size(); ++rank) {
      const uint32_t first = first_kind_[rank];
      for (const uint16_t row : ranks_[rank]->kind) {
        const Kind& kind = kinds_[first + row];
        if (!kind.between_two) ++places_[kind.place].end;
      }
    }
    for (const Place& place : places_) {
      std::vector<int32_t>& changes = communicators_[place.communicator].takers;
      if (changes.size() <= place.end) changes.resize(place.end + 1);
      ++changes[place.next];
      --changes[place.end];
    }
    for (Communicator& communicator : communicators_) {
      std::vector<int32_t>& changes = communicator.takers;
      for (size_t i = 1; i < changes.size(); ++i) changes[i] += changes[i - 1];
    }
  }

  void Refill(uint32_t rank) {
    const CallColumns& columns = columns_[rank];
    Progress& progress = progress_[rank];
    const size_t end = std::min<size_t>(progress.at + kAhead, progress.end);
    for (size_t call = progress.at; call < end; ++call) {
      next_[rank][call % kAhead] = {first_kind_[rank] + columns.kind[call], columns.kernel[call],
                                    columns.exposed[call], StepOf(call, columns, progress.step)};
    }
  }

  // `step`: at or before it.
  static uint32_t StepOf(size_t call, const CallColumns& columns, uint32_t& step) {
    while (step < columns.steps && columns.step_begin[step + 1] <= call) ++step;
    const bool in_one = step < columns.steps && columns.step_begin[step] <= call;
    return in_one ? step : CallOfRank::kNoStep;
  }

  // Brings what Refill will need soon into the processor's cache: ranks are gigabytes apart, and
  // what is brought too early is gone again.
  void FetchAhead(uint32_t rank) const {
    const size_t next = size_t{progress_[rank].at} + 1;
    if (next % kAhead != 0 || next >= progress_[rank].end) return;
    const CallColumns& columns = columns_[rank];
    __builtin_prefetch(columns.kind + next);
    __builtin_prefetch(columns.kernel + next);
    __builtin_prefetch(columns.exposed + next);
    if (columns.steps > 0) __builtin_prefetch(columns.step_begin + progress_[rank].step);
  }

  static OpenCall& CallOf(Communicator& communicator, uint32_t number) {
    return communicator.number == number ? communicator.now : communicator.others[number];
  }

  // The rank is done with its call as far as it matters here: it is ready for the next one as soon
  // as GoOn says so.
  void Arrive(uint32_t rank, std::vector<uint32_t>& ready) {
    const uint32_t at = progress_[rank].at;
    if (at >= progress_[rank].end) return;
    const NextCall one = next_[rank][at % kAhead];
    if (++progress_[rank].at % kAhead == 0) Refill(rank);
    const Kind& kind = kinds_[one.kind];
    if (kind.between_two) {
      ready.push_back(rank);
      return VisitAlone({rank, at, one.kernel, one.exposed, one.step});
    }
    Place& place = places_[kind.place];
    const uint32_t number = place.next++;
    Communicator& communicator = communicators_[place.communicator];
    OpenCall& call = CallOf(communicator, number);
    if (call.came.empty()) call.shape = kind.shape;
    call.differs = call.differs || call.shape != kind.shape;
    call.came.push_back({rank, at, one.kernel, one.exposed, one.step});
    if (!wait_) GoOn(call, ready);
    if (call.came.size() < static_cast<size_t>(communicator.takers[number])) return;
    GoOn(call, ready);
    Visit(call);
    Close(communicator, number);
  }

  // The next call takes the place of the one that is done.
  static void Close(Communicator& communicator, uint32_t number) {
    if (number != communicator.number) {
      communicator.others.erase(number);
      return;
    }
    communicator.now.came.clear();
    communicator.now.gone = 0;
    communicator.now.differs = false;
    ++communicator.number;
    if (communicator.others.empty()) return;
    const auto next = communicator.others.find(communicator.number);
    if (next == communicator.others.end()) return;
    communicator.now = std::move(next->second);
    communicator.others.erase(next);
  }

  static void GoOn(OpenCall& call, std::vector<uint32_t>& ready) {
    for (; call.gone < call.came.size(); ++call.gone) ready.push_back(call.came[call.gone].rank);
  }

  uint32_t ShapeOf(const CallOfRank& one) const {
    return kinds_[first_kind_[one.rank] + ranks_[one.rank]->kind[one.call]].shape;
  }

  void VisitAlone(const CallOfRank& one) { visit_({&one, 1}); }

  void Visit(OpenCall& call) {
    std::vector<CallOfRank>& came = call.came;
    if (came.empty()) return;
    if (!call.differs) return visit_(came);
    for (auto begin = came.begin(); begin != came.end();) {
      const uint32_t shape = ShapeOf(*begin);
      const auto end = std::stable_partition(
          begin, came.end(), [&](const CallOfRank& one) { return ShapeOf(one) == shape; });
      visit_({begin, end});
      begin = end;
    }
  }

  // All ranks wait: those at the call that most have come to go on. False: there are none. After
  // too many looks nobody waits any more.
  bool LetGo(std::vector<uint32_t>& ready) {
    if (looks_ > kMostLooks) return LetAllGo(ready);
    OpenCall* most = nullptr;
    uint64_t most_key = 0;
    const auto consider = [&](uint64_t key, OpenCall& call) {
      ++looks_;
      if (call.gone == call.came.size()) return;
      const size_t came = call.came.size();
      const bool more = most == nullptr || came > most->came.size();
      if (!more && (came < most->came.size() || key > most_key)) return;
      most = &call;
      most_key = key;
    };
    for (uint64_t row = 0; row < communicators_.size(); ++row) {
      Communicator& communicator = communicators_[row];
      consider(row << 32 | communicator.number, communicator.now);
      for (auto& [number, call] : communicator.others) consider(row << 32 | number, call);
    }
    if (most == nullptr) return false;
    GoOn(*most, ready);
    return true;
  }

  bool LetAllGo(std::vector<uint32_t>& ready) {
    for (Communicator& communicator : communicators_) {
      GoOn(communicator.now, ready);
      for (auto& [number, call] : communicator.others) GoOn(call, ready);
    }
    wait_ = false;
    return !ready.empty();
  }

  std::span<const RankCalls* const> ranks_;
  const std::function<void(std::span<const CallOfRank>)>& visit_;
  std::vector<uint32_t> ready_;  // ranks that may go on, the next one last
  uint64_t made_ = 0;            // calls of ranks
  uint64_t looks_ = 0;
  bool wait_ = true;
  // By rank.
  std::vector<Progress> progress_;
  std::vector<NextCalls> next_;
  std::vector<CallColumns> columns_;
  std::vector<uint32_t> first_kind_;  // row of kinds_

  std::vector<Kind> kinds_;    // of all ranks, one after the other
  std::vector<Place> places_;  // the same
  std::vector<Communicator> communicators_;
  std::unordered_map<uint64_t, uint32_t> rows_;  // of communicators_
  std::map<std::pair<std::string_view, uint64_t>, uint32_t> shapes_;
};

// Visits that are kept for later.
class KeptVisits {
 public:
  KeptVisits() { calls_.reserve(kKept + kKept / 4); }  // doubling takes three times as much
  void Add(std::span<const CallOfRank> call) {
    calls_.insert(calls_.end(), call.begin(), call.end());
    ends_.push_back(calls_.size());
  }
  void Visit(const std::function<void(std::span<const CallOfRank>)>& visit) const {
    size_t begin = 0;
    for (const size_t end : ends_) {
      visit({calls_.data() + begin, calls_.data() + end});
      begin = end;
    }
  }
  void Clear() {
    calls_.clear();
    ends_.clear();
  }
  bool empty() const { return ends_.empty(); }

 private:
  std::vector<CallOfRank> calls_;
  std::vector<size_t> ends_;  // of each visit
};

}  // namespace

// Of large jobs what is visited is kept for a while: one processor plays on while another visits.
void ReplayCalls(std::span<const RankCalls* const> ranks, const std::vector<FirstNumbers>& first,
                 const std::function<void(std::span<const CallOfRank>)>& visit) {
  size_t calls = 0;
  for (const RankCalls* rank : ranks) calls += rank->size();
  if (calls < kBesideFrom || ProcessorCount() < 2) {
    (void)Replay(ranks, first, visit).Advance(SIZE_MAX);
    return;
  }
  KeptVisits played, known;
  const std::function<void(std::span<const CallOfRank>)> keep =
      [&](std::span<const CallOfRank> call) { played.Add(call); };
  Replay replay(ranks, first, keep);
  bool more = true;
  do {
    ParallelFor(2, [&](size_t side) {
      if (side == 1)
        known.Visit(visit);
      else if (more)
        more = replay.Advance(kKept);
    });
    known.Clear();
    std::swap(known, played);
  } while (more || !known.empty());
}

}  // namespace batchlight
