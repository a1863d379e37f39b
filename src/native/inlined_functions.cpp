#include "native/inlined_functions.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "native/dwarf_names.h"
#include "native/dwarf_unit.h"

namespace batchlight::native {
namespace {

constexpr size_t kMostDepth = 4096;
constexpr size_t kMostLyingIn = 16 << 20;
// Linkers leave entries of code that they dropped, at address 0 or 1.
constexpr uint64_t kFirstCode = 2;

using Numbers = std::span<const uint32_t>;  // of places, in order

class Finder {
 public:
  Finder(DwarfInfo& info, std::span<const uint64_t> places, InlinedFunctions& found)
      : info_(info),
        work_(info.work()),
        places_(places),
        found_(found),
        names_(info),
        is_done_(places.size()),
        last_in_(places.size()) {}

  void Run() {
    found_.calls.resize(places_.size());
    std::vector<uint32_t> all(places_.size());
    for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint32_t>(i);
    for (const DwarfUnit& unit : info_.units()) RunUnit(unit, all);
    found_.names = names_.Find();
    for (size_t i = 0; i < all.size(); ++i) {
      const size_t nameless =
          std::erase_if(found_.calls[i], [&](uint32_t name) { return found_.names[name].empty(); });
      if (nameless > 0) is_done_[i] = false;
    }
    if (!work_.is_used_up()) return;
    found_.left_out = static_cast<size_t>(std::count(is_done_.begin(), is_done_.end(), false));
  }

 private:
  // Entries inside of one lie in these of the places.
  struct Level {
    size_t depth;  // of that one
    size_t begin;  // in lying_in_
  };

  void RunUnit(const DwarfUnit& unit, Numbers all);
  // False: the work is used up.
  bool Walk(const DwarfUnit& unit, Numbers in_unit);
  bool Enter(const DwarfUnit& unit, const DwarfEntry& entry, Numbers candidates, size_t depth,
             bool has_children);
  Numbers Innermost() const {
    return levels_.empty() ? Numbers() : Numbers(lying_in_).subspan(levels_.back().begin);
  }
  void Leave(size_t depth) {
    while (!levels_.empty() && levels_.back().depth >= depth) {
      lying_in_.resize(levels_.back().begin);
      levels_.pop_back();
    }
  }
  std::vector<uint32_t> In(const DwarfUnit& unit, const DwarfEntry& entry, Numbers candidates);

  DwarfInfo& info_;
  DwarfWork& work_;
  std::span<const uint64_t> places_;
  InlinedFunctions& found_;
  DwarfNames names_;
  std::vector<bool> is_done_;      // by place
  std::vector<uint64_t> last_in_;  // by place: serial number of the entry that it was found in
  uint64_t serial_ = 0;
  std::vector<Level> levels_;
  std::vector<uint32_t> lying_in_;
};

// Which of the candidates lie in an entry's code.
std::vector<uint32_t> Finder::In(const DwarfUnit& unit, const DwarfEntry& entry,
                                 Numbers candidates) {
  std::vector<uint32_t> in;
  size_t stretches = 0;
  ++serial_;
  info_.VisitRanges(unit, entry, [&](uint64_t begin, uint64_t end) {
    if (begin < kFirstCode || end <= begin) return;
    const auto place_before = [&](uint32_t number, uint64_t address) {
      return places_[number] < address;
    };
    const auto from = std::lower_bound(candidates.begin(), candidates.end(), begin, place_before);
    const auto to = std::lower_bound(from, candidates.end(), end, place_before);
    if (from == to || !work_.Take(static_cast<uint64_t>(to - from))) return;
    ++stretches;
    for (const uint32_t number : std::span(from, to)) {
      if (std::exchange(last_in_[number], serial_) != serial_) in.push_back(number);
    }
  });
  if (stretches > 1) std::sort(in.begin(), in.end());
  return in;
}

void Finder::RunUnit(const DwarfUnit& unit, Numbers all) {
  DwarfEntry first;
  if (work_.is_used_up() || !info_.ReadFirstEntry(unit, &first)) return;
  const std::vector<uint32_t> in_unit = In(unit, first, all);
  if (in_unit.empty()) return;
  const bool is_whole = Walk(unit, in_unit);
  for (const uint32_t number : in_unit) {
    is_done_[number] = is_whole;
    if (!is_whole) found_.calls[number].clear();
  }
}

bool Finder::Walk(const DwarfUnit& unit, Numbers in_unit) {
  levels_.clear();
  lying_in_.clear();
  const auto table = info_.AbbreviationsOf(unit);
  ByteReader reader = info_.ReaderOf(unit);
  size_t depth = 0;
  while (!reader.at_end()) {
    const size_t at = reader.place();
    const uint64_t code = reader.Uleb();
    if (code == 0) {
      if (depth == 0 || !work_.Take(1)) break;
      Leave(--depth);
      continue;
    }
    const auto* const abbreviation = table->Find(code);
    if (abbreviation == nullptr || depth > kMostDepth) break;
    // A function inside of another has code of its own.
    const bool is_function = abbreviation->tag == kTagSubprogram;
    const bool is_inlined = abbreviation->tag == kTagInlinedSubroutine && !Innermost().empty();
    if (is_function || is_inlined) {
      DwarfEntry entry;
      if (!info_.ReadEntry(unit, *table, *abbreviation, reader, &entry)) break;
      if (!Enter(unit, entry, is_function ? in_unit : Innermost(), depth,
                 abbreviation->has_children)) {
        break;
      }
    } else if (!info_.SkipEntry(unit, *table, *abbreviation, reader)) {
      break;
    }
    if (!work_.Take(reader.place() - at)) break;
    if (abbreviation->has_children) ++depth;
  }
  return !work_.is_used_up();
}

bool Finder::Enter(const DwarfUnit& unit, const DwarfEntry& entry, Numbers candidates, size_t depth,
                   bool has_children) {
  const std::vector<uint32_t> in = In(unit, entry, candidates);
  if (entry.tag == kTagSubprogram) {
    for (const uint32_t number : in) found_.calls[number].clear();
  } else if (!in.empty()) {
    if (!work_.TakeCalls(in.size())) return false;
    const uint64_t function = info_.PlaceOf(unit, entry.origin);
    const uint32_t name = function == UINT64_MAX ? UINT32_MAX : names_.NumberOf(function);
    for (const uint32_t number : in) {
      auto& calls = found_.calls[number];
      if (name != UINT32_MAX && calls.size() < kMostInlinedCalls) calls.push_back(name);
    }
  }
  if (has_children) {
    if (in.size() > kMostLyingIn - lying_in_.size()) return false;
    levels_.push_back({depth, lying_in_.size()});
    lying_in_.insert(lying_in_.end(), in.begin(), in.end());
  }
  return work_.Take(in.size());
}

}  // namespace

InlinedFunctions FindInlinedFunctions(const ElfFile& file, const ElfFile* debug_file,
                                      std::span<const uint64_t> places, DwarfBudget& budget) {
  InlinedFunctions found;
  DwarfWork work(budget);
  auto sections = DwarfSections::Of(file, budget, work);
  if (sections == nullptr && debug_file != nullptr) {
    sections = DwarfSections::Of(*debug_file, budget, work);
  }
  if (sections == nullptr) return found;
  if (sections->is_cut) {
    found.left_out = places.size();
    return found;
  }
  DwarfInfo info(*sections, work);
  Finder(info, places, found).Run();
  return found;
}

}  // namespace batchlight::native
