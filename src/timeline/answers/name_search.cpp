#include "timeline/answers/name_search.h"

#include <algorithm>
#include <tuple>

#include "analysis/steps/step_lookup.h"

namespace batchlight::timeline {
namespace {

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string LowerText(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), Lower);
  return lower;
}

TextAt PlaceOfLower(std::string_view name, std::string_view lower_text) {
  const auto at = std::search(name.begin(), name.end(), lower_text.begin(), lower_text.end(),
                              [](char a, char b) { return Lower(a) == b; });
  if (at == name.end() && !lower_text.empty()) return TextAt::kNowhere;
  if (at != name.begin()) return TextAt::kWithin;
  return name.size() == lower_text.size() ? TextAt::kWhole : TextAt::kBegin;
}

void AddTo(NameMatch& sum, const NameMatch& more) {
  sum.count += more.count;
  sum.total_ns += more.total_ns;
  sum.lengths_ns += more.lengths_ns;
  if (more.longest_ns <= sum.longest_ns) return;
  sum.longest_ns = more.longest_ns;
  sum.longest_ref = more.longest_ref;
}

// Sums of one name and table that came from two.
void UniteSame(std::vector<NameMatch>& sums) {
  std::stable_sort(sums.begin(), sums.end(), [](const NameMatch& a, const NameMatch& b) {
    return std::tie(a.name, a.table) < std::tie(b.name, b.table);
  });
  size_t kept = 0;
  for (const NameMatch& sum : sums) {
    const bool same =
        kept > 0 && sums[kept - 1].name == sum.name && sums[kept - 1].table == sum.table;
    if (same) {
      AddTo(sums[kept - 1], sum);
    } else {
      sums[kept++] = sum;
    }
  }
  sums.resize(kept);
}

int64_t LengthOf(const Events& events, uint32_t ref) { return events.End(ref) - events.Start(ref); }

}  // namespace

EventFilter EventFilter::OfName(const Timeline& timeline, uint32_t name) {
  EventFilter filter(timeline);
  if (name < timeline.names().size()) {
    filter.names_.resize(size_t{name} + 1);
    filter.names_[name] = 1;
  }
  return filter;
}

TextAt PlaceOfText(std::string_view name, std::string_view text) {
  return PlaceOfLower(name, LowerText(text));
}

template <typename Wanted>
EventFilter EventFilter::OfNames(const Timeline& timeline, Wanted&& wanted) {
  EventFilter filter(timeline);
  filter.names_.resize(timeline.names().size());
  for (uint32_t name = 0; name < filter.names_.size(); ++name) {
    filter.names_[name] = wanted(timeline.names().Text(name)) ? 1 : 0;
  }
  return filter;
}

EventFilter EventFilter::OfText(const Timeline& timeline, std::string_view text) {
  const std::string part = LowerText(text);
  return OfNames(timeline, [&](std::string_view name) {
    return PlaceOfLower(name, part) != TextAt::kNowhere;
  });
}

EventFilter EventFilter::OfTextAt(const Timeline& timeline, std::string_view text, TextAt place) {
  const std::string part = LowerText(text);
  return OfNames(timeline,
                 [&](std::string_view name) { return PlaceOfLower(name, part) == place; });
}

EventFilter EventFilter::Called(const Timeline& timeline, std::string_view text,
                                std::string_view table_key) {
  EventFilter same =
      OfNames(timeline, [&](std::string_view name) { return name == text; }).In(table_key);
  // Of a gap and its causes, which share names, the gap is what is seen.
  for (const EventTable& table : timeline.events().tables()) {
    if (!table_key.empty() || table.parts.empty()) continue;
    EventFilter whole = EventFilter(same).In(table.key);
    if (whole.HasAny()) return whole;
  }
  if (same.HasAny()) return same;
  for (const TextAt place : {TextAt::kWhole, TextAt::kBegin}) {
    EventFilter having = OfTextAt(timeline, text, place).In(table_key);
    if (having.HasAny()) return having;
  }
  return OfText(timeline, text).In(table_key);
}

bool EventFilter::HasAny() const {
  if (!std::count(names_.begin(), names_.end(), uint8_t{1})) return false;
  for (const EventTable& table : timeline_.events().tables()) {
    if (!Takes(table)) continue;
    for (uint32_t row = 0; row < table.rows; ++row) {
      const bool is_here = TakesRow(table, row) && table.start_ns[row] < table.until_ns;
      if (is_here && Has(Events::NameOfRow(table, row))) return true;
    }
  }
  return false;
}

EventFilter EventFilter::OfTable(const Timeline& timeline, std::string_view table_key) {
  EventFilter filter(timeline);
  filter.table_key_ = table_key;
  filter.all_ = true;
  return filter;
}

std::vector<NameMatch> SumByName(const Timeline& timeline, const EventFilter& filter) {
  const Events& events = timeline.events();
  std::vector<NameMatch> sums;
  std::vector<uint32_t> places(timeline.names().size(), kNoRef);  // by name, in sums
  std::vector<OpenTime> open;                                     // by sum
  const EventTable* summed = nullptr;
  size_t first = 0;  // of the table's sums
  uint32_t thread = 0;
  filter.VisitRows([&](const EventTable& table, uint32_t row, uint32_t name) {
    if (name >= places.size()) return;
    if (&table != summed) {
      for (; first < sums.size(); ++first) places[sums[first].name] = kNoRef;
      summed = &table;
      thread = 0;
    }
    const bool nests = !table.threads.empty();
    while (nests && row >= EndOfThread(table, thread)) ++thread;
    uint32_t& place = places[name];
    if (place == kNoRef) {
      place = static_cast<uint32_t>(sums.size());
      sums.push_back({.name = name, .table = filter.CountedAs(table)});
      open.emplace_back();
    }
    const int64_t start_ns = table.start_ns[row];
    const int64_t end_ns = events.EndOfRow(table, row);
    const int64_t length_ns = end_ns - start_ns;
    AddTo(sums[place], {.count = 1,
                        .total_ns = nests ? open[place].Add(thread, start_ns, end_ns) : length_ns,
                        .lengths_ns = length_ns,
                        .longest_ns = length_ns,
                        .longest_ref = table.first_ref + row});
  });
  UniteSame(sums);
  std::stable_sort(sums.begin(), sums.end(),
                   [](const NameMatch& a, const NameMatch& b) { return a.total_ns > b.total_ns; });
  return sums;
}

uint32_t NextEvent(const Timeline& timeline, const EventFilter& filter,
                   const NextRequest& request) {
  const Events& events = timeline.events();
  uint32_t best = kNoRef;
  const auto look = [&](uint32_t ref) {
    const int64_t start_ns = events.Start(ref);
    if (request.forward ? start_ns <= request.at_ns : start_ns >= request.at_ns) return;
    if (LengthOf(events, ref) < request.least_ns) return;
    if (best != kNoRef) {
      const int64_t best_ns = events.Start(best);
      if (request.forward ? start_ns >= best_ns : start_ns <= best_ns) return;
    }
    best = ref;
  };
  if (request.track == kNoRef) {
    filter.Visit(look);
  } else if (request.track < timeline.tracks().size()) {
    for (const EventRow& row : timeline.tracks()[request.track].rows) {
      for (const uint32_t ref : row.refs()) {
        if (filter.Has(events, ref)) look(ref);
      }
    }
  }
  return best;
}

LongestEvents NthLongest(const Timeline& timeline, const EventFilter& filter, uint64_t nth,
                         int64_t from_ns, int64_t to_ns) {
  const Events& events = timeline.events();
  std::vector<uint32_t> refs;
  filter.Visit([&](uint32_t ref) {
    const int64_t start_ns = events.Start(ref);
    if (start_ns >= from_ns && start_ns < to_ns) refs.push_back(ref);
  });
  return NthLongestOf(events, std::move(refs), nth);
}

LongestEvents NthLongestInSteps(const Timeline& timeline, const EventFilter& filter, uint64_t nth) {
  const Events& events = timeline.events();
  StepLookup steps(timeline.steps().Main());
  std::vector<uint32_t> refs;
  filter.Visit([&](uint32_t ref) {
    if (steps.IsSteadyAt(events.Start(ref))) refs.push_back(ref);
  });
  return NthLongestOf(events, std::move(refs), nth);
}

LongestEvents NthLongestOf(const Events& events, std::vector<uint32_t> refs, uint64_t nth) {
  LongestEvents result{.count = refs.size()};
  if (nth >= refs.size()) return result;
  const auto at = refs.begin() + static_cast<ptrdiff_t>(nth);
  std::nth_element(refs.begin(), at, refs.end(), [&](uint32_t a, uint32_t b) {
    const int64_t a_ns = LengthOf(events, a);
    const int64_t b_ns = LengthOf(events, b);
    return a_ns != b_ns ? a_ns > b_ns : a < b;
  });
  result.ref = *at;
  return result;
}

uint64_t RankByLength(const Timeline& timeline, const EventFilter& filter, uint32_t ref) {
  const Events& events = timeline.events();
  const int64_t length_ns = LengthOf(events, ref);
  uint64_t rank = 1;
  filter.Visit([&](uint32_t other) {
    const int64_t other_ns = LengthOf(events, other);
    if (other_ns > length_ns || (other_ns == length_ns && other < ref)) ++rank;
  });
  return rank;
}

std::vector<uint32_t> Density(const Timeline& timeline, const EventFilter& filter, int64_t from_ns,
                              int64_t to_ns, size_t bins) {
  std::vector<uint32_t> counts(bins);
  if (bins == 0 || to_ns <= from_ns) return counts;
  const Events& events = timeline.events();
  const double bins_per_ns = static_cast<double>(bins) / static_cast<double>(to_ns - from_ns);
  filter.Visit([&](uint32_t ref) {
    const int64_t start_ns = events.Start(ref);
    if (start_ns < from_ns || start_ns >= to_ns) return;
    const auto bin = static_cast<size_t>(static_cast<double>(start_ns - from_ns) * bins_per_ns);
    ++counts[std::min(bin, bins - 1)];
  });
  return counts;
}

}  // namespace batchlight::timeline
