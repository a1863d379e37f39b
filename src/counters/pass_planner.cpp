#include "counters/pass_planner.h"

#include <cstring>

#include "counters/host_object.h"

namespace batchlight::counters {
namespace {

// A pass that has refused so many metrics of a hardware unit has no counter left there. Each
// question takes 17 ms, and a full set would ask a thousand.
constexpr uint32_t kRefusals = 2;
constexpr size_t kMostUnits = 64;

// "lts" of lts__t_sectors.sum: what shares counters.
size_t UnitLength(const char* name) {
  const char* const end = std::strstr(name, "__");
  return end != nullptr ? static_cast<size_t>(end - name) : std::strlen(name);
}

class Refusals {
 public:
  bool IsFull(const char* name) const {
    const Unit* const unit = Find(name);
    return unit != nullptr && unit->refused >= kRefusals;
  }
  void Add(const char* name) {
    if (Unit* const unit = const_cast<Unit*>(Find(name))) {
      ++unit->refused;
    } else if (count_ < kMostUnits) {
      units_[count_++] = {name, UnitLength(name), 1};
    }
  }

 private:
  struct Unit {
    const char* name;
    size_t length;
    uint32_t refused;
  };
  const Unit* Find(const char* name) const {
    const size_t length = UnitLength(name);
    for (size_t i = 0; i < count_; ++i) {
      if (units_[i].length == length && std::strncmp(units_[i].name, name, length) == 0) {
        return &units_[i];
      }
    }
    return nullptr;
  }

  Unit units_[kMostUnits] = {};
  size_t count_ = 0;
};

constexpr uint32_t kOpen = UINT32_MAX - 1;  // to be had, in no pass yet

}  // namespace

uint32_t PlanPasses(const ProfilerApi& api, ProfilerType type, const char* chip,
                    const uint8_t* availability, PlannedMetric* metrics, size_t count,
                    uint32_t most_passes) {
  const auto passes_of = [&](const char* const* names, size_t n) {
    return PassesOf(api, type, chip, availability, names, n);
  };
  size_t open = 0;
  for (size_t i = 0; i < count; ++i) {
    const size_t alone = passes_of(&metrics[i].name, 1);
    metrics[i].pass = alone == 0 ? 0 : alone == 1 ? kOpen : kNeedsSeveral;
    if (metrics[i].pass == kOpen) ++open;
  }
  uint32_t pass = 0;
  while (open > 0 && pass < most_passes) {
    ++pass;
    const char* names[kMostPlanned];
    size_t taken = 0;
    for (size_t i = 0; i < count && pass > 1; ++i) {
      if (metrics[i].in_every_pass && metrics[i].pass == 1) names[taken++] = metrics[i].name;
    }
    const size_t shared = taken;
    Refusals refusals;
    for (size_t i = 0; i < count; ++i) {
      if (metrics[i].pass != kOpen || refusals.IsFull(metrics[i].name)) continue;
      names[taken] = metrics[i].name;
      if (taken > 0 && passes_of(names, taken + 1) != 1) {
        if (taken > shared) {
          refusals.Add(metrics[i].name);
        } else {  // beside those of every pass alone
          metrics[i].pass = kNeedsSeveral;
          --open;
        }
        continue;
      }
      metrics[i].pass = pass;
      ++taken;
      --open;
    }
    if (taken == shared) --pass;
  }
  for (size_t i = 0; i < count; ++i) {
    if (metrics[i].pass == kOpen) metrics[i].pass = 0;
  }
  return pass;
}

}  // namespace batchlight::counters
