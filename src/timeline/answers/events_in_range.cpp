#include "timeline/answers/events_in_range.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/result/result_column.h"
#include "analysis/result/table_columns.h"

namespace batchlight::timeline {
namespace {

struct NameInRange {
  std::string table;
  std::string name;
  bool sampled = false;  // a function that samples found: those stand last
  uint64_t count = 0;
  int64_t total_ns = 0;
  int64_t longest_ns = 0;
};

Columns<NameInRange> EventColumns() {
  return {
      {TextColumn("kind", "Kind", "what the event is"),
       [](const NameInRange& row) { return row.table; }},
      {TextColumn("name", "Name", ""), [](const NameInRange& row) { return row.name; }},
      {CountColumn("count", "Events", "events that touch the range"), Number(&NameInRange::count)},
      {TimeColumn("total_ns", "Total",
                  "their time within the range; a call within another of its name counts once"),
       [](const NameInRange& row) { return Cell{row.total_ns}; }},
      {TimeColumn("longest_ns", "Longest", "the most that one of them has within the range"),
       [](const NameInRange& row) { return Cell{row.longest_ns}; }}};
}

// Sums by table and name of what lies in [from, to).
class NameSums {
 public:
  NameSums(const Timeline& timeline, int64_t from_ns, int64_t to_ns)
      : timeline_(timeline),
        from_ns_(from_ns),
        to_ns_(to_ns),
        places_(timeline.events().tables().size()) {}

  // Calls of a table that nests come by thread, then start.
  void Add(const EventTable& table, uint32_t row, uint32_t thread) {
    const uint32_t place = PlaceOf(table, Events::NameOfRow(table, row));
    const int64_t start_ns = std::max(table.start_ns[row], from_ns_);
    const int64_t end_ns = std::min(timeline_.events().EndOfRow(table, row), to_ns_);
    NameInRange& sum = rows_[place];
    ++sum.count;
    sum.total_ns +=
        table.threads.empty() ? end_ns - start_ns : open_[place].Add(thread, start_ns, end_ns);
    sum.longest_ns = std::max(sum.longest_ns, end_ns - start_ns);
  }

  std::vector<NameInRange> Take() && {
    std::sort(rows_.begin(), rows_.end(), [](const NameInRange& a, const NameInRange& b) {
      if (a.sampled != b.sampled) return b.sampled;
      if (a.total_ns != b.total_ns) return a.total_ns > b.total_ns;
      return std::tie(a.table, a.name) < std::tie(b.table, b.name);
    });
    return std::move(rows_);
  }

 private:
  uint32_t PlaceOf(const EventTable& table, uint32_t name) {
    std::vector<uint32_t>& places = places_[size_t(&table - timeline_.events().tables().data())];
    // A damaged recording has events without a name, whose number is the largest there is.
    const size_t at = name < timeline_.names().size() ? size_t{name} + 1 : 0;
    if (at >= places.size()) places.resize(std::max(at + 1, 2 * places.size()), kNoRef);
    uint32_t& place = places[at];
    if (place != kNoRef) return place;
    place = static_cast<uint32_t>(rows_.size());
    rows_.push_back({.table = std::string(table.title),
                     .name = std::string(timeline_.names().Text(name)),
                     .sampled = table.key == "python_stretches"});
    open_.emplace_back();
    return place;
  }

  const Timeline& timeline_;
  const int64_t from_ns_;
  const int64_t to_ns_;
  std::vector<std::vector<uint32_t>> places_;  // by table and name (0: none), in rows_
  std::vector<NameInRange> rows_;
  std::vector<OpenTime> open_;  // as rows_
};

// Adds the events of rows whose events do not nest, and returns of the others those that are open
// when the range begins: one of each row at most, outermost first.
std::vector<uint32_t> AddFlatEvents(const Timeline& timeline, int64_t from_ns, int64_t to_ns,
                                    NameSums& sums) {
  const Events& events = timeline.events();
  std::vector<uint32_t> open;
  for (const Track& track : timeline.tracks()) {
    for (const EventRow& row : track.rows) {
      const std::vector<uint32_t>& refs = row.refs();
      for (size_t at = row.FirstFrom(events, from_ns); at < refs.size(); ++at) {
        const EventTable& table = events.TableOf(refs[at]);
        const int64_t start_ns = table.start_ns[refs[at] - table.first_ref];
        if (start_ns >= to_ns) break;
        if (table.threads.empty()) {
          sums.Add(table, refs[at] - table.first_ref, 0);
          continue;
        }
        // The row is a thread's, with nothing but calls.
        if (start_ns < from_ns) open.push_back(refs[at]);
        break;
      }
    }
  }
  std::sort(open.begin(), open.end());
  return open;
}

// `open`: calls that are open at from_ns, ascending.
void AddCalls(const Events& events, int64_t from_ns, int64_t to_ns,
              const std::vector<uint32_t>& open, NameSums& sums) {
  auto next_open = open.begin();
  for (const EventTable& table : events.tables()) {
    for (uint32_t thread = 0; thread < table.threads.size(); ++thread) {
      const int64_t* begin = table.start_ns + table.threads[thread];
      const int64_t* end = table.start_ns + EndOfThread(table, thread);
      const auto row_of = [&](const int64_t* at) {
        return static_cast<uint32_t>(at - table.start_ns);
      };
      const int64_t* first = std::lower_bound(begin, end, from_ns);
      for (; next_open != open.end() && *next_open < table.first_ref + row_of(end); ++next_open) {
        sums.Add(table, *next_open - table.first_ref, thread);
      }
      for (uint32_t row = row_of(first), last = row_of(std::lower_bound(first, end, to_ns));
           row < last; ++row) {
        sums.Add(table, row, thread);
      }
    }
  }
}

}  // namespace

ResultTable EventsInRange(const Timeline& timeline, int64_t from_ns, int64_t to_ns) {
  NameSums sums(timeline, from_ns, to_ns);
  AddCalls(timeline.events(), from_ns, to_ns, AddFlatEvents(timeline, from_ns, to_ns, sums), sums);
  std::vector<NameInRange> rows = std::move(sums).Take();
  if (rows.size() > kMostNamesInRange) rows.resize(kMostNamesInRange);
  return TableOf("events", "Events by name", EventColumns(), rows);
}

}  // namespace batchlight::timeline
