// Groups the events of one track by name, phase by phase (phase_events.h).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/breakdown/phase_events.h"
#include "analysis/breakdown/thread_events.h"
#include "analysis/owners/attribution.h"
#include "analysis/steps/bin_finder.h"

namespace batchlight {

// Numbers for the names of events; names that are displayed the same share a number.
class EventNames {
 public:
  explicit EventNames(const Store& store) : store_(store) {}

  uint32_t Number(EventRef event);
  const std::string& Text(uint32_t number) const { return texts_[number]; }
  bool IsLaunch(uint32_t number) const { return is_launch_[number]; }

 private:
  uint32_t Key(EventRef event) const;  // distinguishes the events of one kind
  std::string Make(EventRef event) const;

  const Store& store_;
  std::array<std::unordered_map<uint32_t, uint32_t>, size_t(EventKind::kSmaller) + 1> known_;
  std::unordered_map<std::string, uint32_t> by_text_;
  std::vector<std::string> texts_;
  std::vector<bool> is_launch_;  // a call that launches work, wherever it is made
};

class EventGroups {
 public:
  // `bin_of_step` and `steady`: by row of ProcessSteps::steps.
  EventGroups(const Store& store, const Attribution& work, size_t bins,
              std::vector<uint32_t> bin_of_step, std::vector<bool> steady)
      : store_(store),
        work_(work),
        names_(store),
        bins_(bins),
        bin_of_step_(std::move(bin_of_step)),
        steady_(std::move(steady)) {}

  void Add(const Occurrence& occurrence);
  // By phase; leaves nothing behind.
  std::vector<std::vector<EventGroup>> Take(size_t phases);

 private:
  // Bounds memory if every name is different: groups beyond this are merged.
  static constexpr size_t kMost = 4096;
  static constexpr uint32_t kNoName = UINT32_MAX;

  struct Key {
    uint32_t phase;
    EventKind kind;
    uint32_t name;    // number of EventNames
    uint32_t detail;  // the operator around, or the work after an idle stretch
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const {
      const uint64_t where = uint64_t{key.phase} << 8 | uint64_t(key.kind);
      return ((uint64_t{key.name} << 32 | key.detail) ^ where * 0x2545f4914f6cdd1du) *
                 0x9e3779b97f4a7c15u >>
             7;
    }
  };
  struct Group {
    Key key;
    int64_t total_ns = 0;
    uint64_t count = 0;
    Occurrence longest;
  };

  Key KeyOf(const Occurrence& occurrence);
  size_t GroupOf(Key key);
  EventGroup Describe(size_t row);
  std::string OperatorOf(EventRef gpu_work) const;
  std::string TextOf(EventRef event);

  const Store& store_;
  const Attribution& work_;
  EventNames names_;
  size_t bins_;
  std::vector<uint32_t> bin_of_step_;
  std::vector<bool> steady_;
  std::vector<Group> groups_;
  std::vector<int64_t> bin_ns_;  // [group * bins_ + bin]
  std::vector<uint32_t> bin_count_;
  std::unordered_map<Key, size_t, KeyHash> known_;
  size_t last_ = SIZE_MAX;
};

}  // namespace batchlight
