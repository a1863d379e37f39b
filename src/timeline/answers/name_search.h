// Events by name: which names there are, the next one, the longest ones, where they lie.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "timeline/index/timeline.h"

namespace batchlight::timeline {

// Where a name has a text; ASCII case does not count. What a search means more comes first.
enum class TextAt : uint8_t { kWhole, kBegin, kWithin, kNowhere };
TextAt PlaceOfText(std::string_view name, std::string_view text);

// Events that a search is about: of one name, of all names that contain a text (ASCII case does not
// count), or of one table. Time that two tables tell counts once: an idle gap of several causes is
// one of the table of gaps, and elsewhere those causes instead.
class EventFilter {
 public:
  static EventFilter OfName(const Timeline& timeline, uint32_t name);
  static EventFilter OfText(const Timeline& timeline, std::string_view text);
  // Of these only names that have it there.
  static EventFilter OfTextAt(const Timeline& timeline, std::string_view text, TextAt place);
  // Of the text itself where an event of the table ("": any) is called so, else where one is but
  // for ASCII case, else of names that begin with it, else of all that contain it. Of what is told
  // in parts as well, the whole.
  static EventFilter Called(const Timeline& timeline, std::string_view text,
                            std::string_view table_key);
  static EventFilter OfTable(const Timeline& timeline, std::string_view table_key);

  // Of these only those of one table. Of parts: and what has none, which is its own only part.
  EventFilter In(std::string_view table_key) && {
    table_key_ = table_key;
    return std::move(*this);
  }

  bool Has(const Events& events, uint32_t ref) const {
    const EventTable& table = events.TableOf(ref);
    return Takes(table) && TakesRow(table, ref - table.first_ref) && Has(events.Name(ref));
  }
  // The table that an event of this one is counted in.
  std::string_view CountedAs(const EventTable& table) const {
    return table.parts.empty() || table.key == table_key_ ? table.key : table.parts;
  }
  // visit(ref) for every one of them, table by table.
  template <typename Visitor>
  void Visit(Visitor&& visit) const {
    VisitRows(
        [&](const EventTable& table, uint32_t row, uint32_t) { visit(table.first_ref + row); });
  }
  // visit(table, row, name): the same, for those who look at every event.
  template <typename Visitor>
  void VisitRows(Visitor&& visit) const {
    for (const EventTable& table : timeline_.events().tables()) {
      if (!Takes(table)) continue;
      for (uint32_t row = 0; row < table.rows; ++row) {
        if (!TakesRow(table, row)) continue;
        if (table.start_ns[row] >= table.until_ns) continue;
        const uint32_t name = Events::NameOfRow(table, row);
        if (Has(name)) visit(table, row, name);
      }
    }
  }

 private:
  explicit EventFilter(const Timeline& timeline) : timeline_(timeline) {}
  template <typename Wanted>
  static EventFilter OfNames(const Timeline& timeline, Wanted&& wanted);
  bool HasAny() const;
  bool Takes(const EventTable& table) const {
    return table_key_.empty() || table.key == table_key_ || table.parts == table_key_;
  }
  bool TakesRow(const EventTable& table, uint32_t row) const {
    return table.in_parts == nullptr || table.in_parts[row] == 0 || table.key == table_key_;
  }
  bool Has(uint32_t name) const { return all_ || (name < names_.size() && names_[name] != 0); }

  const Timeline& timeline_;
  std::string table_key_;       // "": all tables
  bool all_ = false;            // every name
  std::vector<uint8_t> names_;  // by name: whether it is one
};

struct NameMatch {
  uint32_t name = kNoRef;
  std::string_view table;  // key
  uint64_t count = 0;
  int64_t total_ns = 0;    // a call within another of its name is part of that one's time
  int64_t lengths_ns = 0;  // of all events
  int64_t longest_ns = -1;
  uint32_t longest_ref = kNoRef;
};

// By name and table, falling total time first. What has no parts is among its table's parts.
std::vector<NameMatch> SumByName(const Timeline& timeline, const EventFilter& filter);

struct NextRequest {
  int64_t at_ns = 0;
  bool forward = true;  // begins after the moment; else before it
  int64_t least_ns = 0;
  uint32_t track = kNoRef;  // kNoRef: any
};
// The event that begins next after the moment, or last before it; kNoRef: none.
uint32_t NextEvent(const Timeline& timeline, const EventFilter& filter, const NextRequest& request);

struct LongestEvents {
  uint32_t ref = kNoRef;  // the nth longest; kNoRef: there are fewer
  uint64_t count = 0;     // all that were looked at
};
// Of those that begin in [from, to); nth from 0. Of equals the earlier in refs is longer.
LongestEvents NthLongest(const Timeline& timeline, const EventFilter& filter, uint64_t nth,
                         int64_t from_ns = INT64_MIN, int64_t to_ns = INT64_MAX);
// Of those alone that begin in a step that counts, of the first training process.
LongestEvents NthLongestInSteps(const Timeline& timeline, const EventFilter& filter, uint64_t nth);
// Of these; all count.
LongestEvents NthLongestOf(const Events& events, std::vector<uint32_t> refs, uint64_t nth);
// The place of `ref` among the events of its name, from 1.
uint64_t RankByLength(const Timeline& timeline, const EventFilter& filter, uint32_t ref);

// How many begin in each of `bins` equal stretches of [from, to).
std::vector<uint32_t> Density(const Timeline& timeline, const EventFilter& filter, int64_t from_ns,
                              int64_t to_ns, size_t bins);

}  // namespace batchlight::timeline
