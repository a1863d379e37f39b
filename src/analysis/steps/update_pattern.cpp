#include "analysis/steps/update_pattern.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace batchlight {
namespace {

constexpr size_t kLongestPattern = 64;
constexpr double kRegularUpdates = 0.7;  // of the iterations have the usual number of updates

struct Span {
  size_t begin = 0;
  size_t end = 0;
  size_t size() const { return end - begin; }
};

struct Use {
  size_t first = 0;
  size_t last = 0;
  size_t count = 0;
};

bool UsesClassOf(const std::vector<Update>& updates, Span span, uint64_t family) {
  return std::any_of(updates.begin() + static_cast<ptrdiff_t>(span.begin),
                     updates.begin() + static_cast<ptrdiff_t>(span.end),
                     [&](const Update& update) { return update.family == family; });
}

// The classes of a loop's optimizers, and of each whether it has more than one: such are made anew
// for each task.
class ClassesOf {
 public:
  ClassesOf(const std::vector<Update>& updates, Span loop) : size_(loop.size()) {
    for (size_t i = loop.begin; i < loop.end; ++i) {
      const auto [known, first] = owner_.try_emplace(updates[i].family, updates[i].owner);
      if (!first && known->second != updates[i].owner) several_.insert(updates[i].family);
    }
  }
  bool IsTask(uint64_t family, Span span) const {
    return owner_.size() > 1 && several_.contains(family) && span.size() * 5 < size_;
  }

 private:
  size_t size_;
  std::unordered_map<uint64_t, uint64_t> owner_;  // the first, by class
  std::unordered_set<uint64_t> several_;
};

// Where no optimizer of the updates before steps again: another model begins.
std::vector<Span> ModelsOf(const std::vector<Update>& updates) {
  std::unordered_map<uint64_t, size_t> last;
  for (size_t i = 0; i < updates.size(); ++i) last[updates[i].owner] = i;
  std::vector<Span> models;
  size_t begin = 0;
  size_t alive_until = 0;
  for (size_t i = 0; i < updates.size(); ++i) {
    alive_until = std::max(alive_until, last[updates[i].owner]);
    if (alive_until != i) continue;
    models.push_back({begin, i + 1});
    begin = i + 1;
  }
  // A new optimizer for every sample or task is how that loop works, not another model.
  if (models.size() * 3 > updates.size()) return {{0, updates.size()}};
  for (size_t i = models.size() - 1; i-- > 0;) {
    const bool is_task = models[i].size() * 5 < models[i + 1].size() &&
                         UsesClassOf(updates, models[i + 1], updates[models[i].begin].family);
    if (!is_task) continue;
    models[i].end = models[i + 1].end;
    models.erase(models.begin() + static_cast<ptrdiff_t>(i) + 1);
  }
  // After the last iteration of such a loop, tasks alone are how it is judged: they end none.
  const ClassesOf classes(updates, models[0]);
  while (models.size() > 1 && classes.IsTask(updates[models.back().begin].family, models.back())) {
    models.pop_back();
  }
  return models;
}

class ModelPattern {
 public:
  ModelPattern(const std::vector<Update>& updates, Span span) : updates_(updates), span_(span) {
    NameOwners();
  }

  // Rows of the updates that end an iteration.
  std::vector<size_t> Ends() const {
    if (use_.size() < 2 || SameWork()) return All();
    if (const Use* most = InOneLoop() ? Anchor(std::greater<>()) : nullptr) {
      return EndsBy(most, true);
    }
    const std::vector<size_t> ends = EndsBy(Anchor(std::less<>()), false);
    return IsRegular(ends) ? SplitPrelude(ends) : All();
  }

 private:
  // An optimizer that is made anew for each task stands for its class.
  void NameOwners() {
    std::unordered_map<uint64_t, Use> seen;
    for (size_t i = span_.begin; i < span_.end; ++i) Count(seen[updates_[i].owner], i);
    for (size_t i = span_.begin; i < span_.end; ++i) {
      const bool lasts = IsThroughout(seen[updates_[i].owner]);
      const uint64_t owner = lasts ? updates_[i].owner : ~updates_[i].family;
      owners_.push_back(owner);
      Count(use_[owner], i);
    }
  }

  static void Count(Use& use, size_t row) {
    if (use.count++ == 0) use.first = row;
    use.last = row;
  }

  bool IsThroughout(const Use& use) const {
    return use.first - span_.begin <= span_.size() / 3 + 1 &&
           use.last - span_.begin + 1 + span_.size() / 3 >= span_.size();
  }

  std::vector<size_t> All() const {
    std::vector<size_t> all;
    for (size_t i = span_.begin; i < span_.end; ++i) all.push_back(i);
    return all;
  }

  uint64_t OwnerOf(size_t row) const { return owners_[row - span_.begin]; }

  // Whether the updates of all optimizers do the same work: of each, what most of them do.
  bool SameWork() const {
    std::map<uint64_t, std::map<uint64_t, size_t>> work_of;
    for (size_t i = span_.begin; i < span_.end; ++i) ++work_of[OwnerOf(i)][updates_[i].work];
    uint64_t same = 0;
    for (const auto& [owner, counts] : work_of) {
      const auto most =
          std::max_element(counts.begin(), counts.end(),
                           [](const auto& a, const auto& b) { return a.second < b.second; });
      if (most->first == 0 || most->second * 2 <= use_.at(owner).count) return false;
      if (same != 0 && most->first != same) return false;
      same = most->first;
    }
    return true;
  }

  // Whether all optimizers step in the same loop, as far as is known.
  bool InOneLoop() const {
    const std::string_view loops = updates_[span_.begin].loops;
    return !loops.empty() &&
           std::all_of(updates_.begin() + static_cast<ptrdiff_t>(span_.begin),
                       updates_.begin() + static_cast<ptrdiff_t>(span_.end),
                       [&](const Update& update) { return update.loops == loops; });
  }

  // The optimizer that steps most seldom, or most often; of several the one that is seen last.
  template <typename Before>
  const Use* Anchor(Before before) const {
    const Use* anchor = nullptr;
    for (const auto& [owner, use] : use_) {
      if (!IsThroughout(use)) continue;
      if (anchor == nullptr || before(use.count, anchor->count) ||
          (use.count == anchor->count && use.first > anchor->first)) {
        anchor = &use;
      }
    }
    return anchor;
  }

  // An iteration ends with a step of this optimizer, or begins with one if it comes first; with
  // `each` not only with the last, or first, of several in a row.
  std::vector<size_t> EndsBy(const Use* anchor, bool each) const {
    if (anchor == nullptr) return {};
    const uint64_t owner = OwnerOf(anchor->first);
    const bool begins = anchor->first == span_.begin;
    std::vector<size_t> ends;
    for (size_t i = span_.begin; i < span_.end; ++i) {
      const bool last = i + 1 == span_.end;
      const bool here = OwnerOf(i) == owner, next = !last && OwnerOf(i + 1) == owner;
      const bool ends_here = begins ? last || (next && (each || !here)) : here && (each || !next);
      if (ends_here) ends.push_back(i);
    }
    return ends;
  }

  std::vector<size_t> Lengths(const std::vector<size_t>& ends) const {
    std::vector<size_t> lengths;
    size_t begin = span_.begin;
    for (const size_t end : ends) {
      lengths.push_back(end + 1 - begin);
      begin = end + 1;
    }
    return lengths;
  }

  static size_t Usual(const std::vector<size_t>& lengths) {
    std::map<size_t, size_t> counts;
    for (const size_t length : lengths) ++counts[length];
    return std::max_element(counts.begin(), counts.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; })
        ->first;
  }

  bool IsRegular(const std::vector<size_t>& ends) const {
    if (ends.empty()) return false;
    const std::vector<size_t> lengths = Lengths(ends);
    const size_t usual = Usual(lengths);
    const auto regular = std::count(lengths.begin(), lengths.end(), usual);
    return usual <= kLongestPattern && double(regular) >= kRegularUpdates * double(lengths.size());
  }

  // Before both optimizers take turns, one may have been trained alone: an iteration each.
  std::vector<size_t> SplitPrelude(const std::vector<size_t>& ends) const {
    const size_t usual = Usual(Lengths(ends));
    std::vector<size_t> split;
    size_t begin = span_.begin;
    for (const size_t end : ends) {
      if (end + 1 - begin > 3 * usual) {
        for (; begin + usual <= end; ++begin) split.push_back(begin);
      }
      split.push_back(end);
      begin = end + 1;
    }
    return split;
  }

  const std::vector<Update>& updates_;
  Span span_;
  std::vector<uint64_t> owners_;  // of the span's updates
  std::map<uint64_t, Use> use_;   // of each owner
};

std::vector<UpdatePattern::Part> PartsOf(const std::vector<Update>& updates,
                                         const std::vector<size_t>& ends) {
  std::map<std::vector<uint64_t>, std::pair<size_t, size_t>> seen;  // owners: times, first row
  size_t begin = 0;
  for (const size_t end : ends) {
    std::vector<uint64_t> owners;
    for (size_t i = begin; i <= end; ++i) owners.push_back(updates[i].owner);
    auto& [times, first] = seen[owners];
    if (times++ == 0) first = begin;
    begin = end + 1;
  }
  const auto most = std::max_element(seen.begin(), seen.end(), [](const auto& a, const auto& b) {
    return a.second.first < b.second.first;
  });
  std::vector<UpdatePattern::Part> parts;
  if (most == seen.end() || most->first.size() < 2) return parts;
  for (size_t i = 0; i < most->first.size(); ++i) {
    const Update& update = updates[most->second.second + i];
    if (!parts.empty() && parts.back().name == update.name) {
      ++parts.back().count;
    } else {
      parts.push_back({update.name, 1});
    }
  }
  return parts;
}

}  // namespace

UpdatePattern FindUpdatePattern(const std::vector<Update>& updates) {
  UpdatePattern pattern;
  if (updates.empty()) return pattern;
  for (const Span& model : ModelsOf(updates)) {
    const std::vector<size_t> ends = ModelPattern(updates, model).Ends();
    for (size_t i = 0; i < ends.size(); ++i) {
      pattern.ends.push_back(ends[i]);
      pattern.fresh.push_back(i == 0 && model.begin != 0);
    }
  }
  pattern.parts = PartsOf(updates, pattern.ends);
  return pattern;
}

std::vector<size_t> ModelStarts(const std::vector<Update>& updates) {
  std::vector<size_t> starts;
  for (const Span& model : ModelsOf(updates)) {
    if (model.begin != 0) starts.push_back(model.begin);
  }
  return starts;
}

}  // namespace batchlight
