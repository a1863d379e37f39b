#include "timeline/answers/viewport.h"

#include <algorithm>
#include <bit>

#include "timeline/answers/view_columns.h"

namespace batchlight::timeline {
namespace {

constexpr int64_t kMostTime = int64_t{1} << 61;

int64_t RoundDown(int64_t time_ns, int64_t step_ns) {
  int64_t rest = time_ns % step_ns;
  if (rest < 0) rest += step_ns;
  return time_ns - rest;
}

// Multiples of a power of two within what can be computed with.
void RoundRequest(ViewRequest& request) {
  const auto step = static_cast<uint64_t>(std::clamp<int64_t>(request.step_ns, 1, kMostTime >> 8));
  request.step_ns = static_cast<int64_t>(std::bit_floor(step));
  const int64_t from_ns = std::clamp(request.from_ns, -kMostTime, kMostTime);
  const int64_t to_ns = std::clamp(request.to_ns, from_ns, kMostTime);
  request.from_ns = RoundDown(from_ns, request.step_ns);
  request.to_ns = RoundDown(to_ns + request.step_ns - 1, request.step_ns);
  // Positions are counted in 32 bits.
  while ((request.to_ns - request.from_ns) / request.step_ns > UINT32_MAX) {
    request.step_ns *= 2;
    request.from_ns = RoundDown(request.from_ns, request.step_ns);
    request.to_ns = RoundDown(request.to_ns + request.step_ns - 1, request.step_ns);
  }
}

// Calls `visit(track's number, track, row)` for the rows that a request names and the run has,
// until it returns false.
template <typename Visitor>
bool VisitRows(const Timeline& timeline, const ViewRequest& request, Visitor&& visit) {
  for (const RowRange& range : request.rows) {
    if (range.track >= timeline.tracks().size()) continue;
    const Track& track = timeline.tracks()[range.track];
    const size_t end =
        std::min<size_t>(track.row_count(), size_t{range.first_row} + range.row_count);
    for (size_t row = range.first_row; row < end; ++row) {
      if (!visit(range.track, track, row)) return false;
    }
  }
  return true;
}

// A look at a sixteenth of the time, in eight spans of each row; at others in the next row, as rows
// may do the same at the same time, or again and again.
constexpr int64_t kSpans = 8;
constexpr int64_t kEvery = 16;

uint64_t ItemsInSpans(const Events& events, const EventRow& row, const ViewRequest& request,
                      size_t number, uint64_t most) {
  const int64_t steps = (request.to_ns - request.from_ns) / request.step_ns;
  const int64_t span_ns = std::max<int64_t>(1, steps / (kSpans * kEvery)) * request.step_ns;
  uint64_t items = 0;
  for (int64_t span = static_cast<int64_t>(number) % kEvery; items <= most; span += kEvery) {
    const int64_t from_ns = request.from_ns + span * span_ns;
    if (from_ns >= request.to_ns) break;
    row.VisitItems(events, from_ns, from_ns + span_ns, request.step_ns, [&](const RowItem& item) {
      items += item.start_ns >= from_ns;
      return items <= most;
    });
  }
  return items;
}

// Whether an answer will be too long, so that not most of it is put together only to be thrown
// away.
bool IsFarTooLong(const Timeline& timeline, const ViewRequest& request, size_t most_bytes) {
  uint64_t rows = 0;
  VisitRows(timeline, request, [&](uint32_t, const Track&, size_t) { return ++rows > 0; });
  if (rows < kEvery) return false;
  // Each moment is looked at in so many rows at the most: rows that are all alike hold no more than
  // what is reckoned here.
  const uint64_t looked = (rows + kEvery - 1) / kEvery;
  const uint64_t most = most_bytes / ViewColumns::kItemBytes * 33 / 32 * looked / rows;
  uint64_t items = 0;
  size_t number = 0;
  return !VisitRows(timeline, request, [&](uint32_t, const Track& track, size_t row) {
    if (row < track.rows.size()) {
      items += ItemsInSpans(timeline.events(), track.rows[row], request, number, most);
    }
    ++number;
    return items <= most;
  });
}

// false: more than `most_bytes`.
bool Collect(const Timeline& timeline, const ViewRequest& request, size_t most_bytes,
             ViewColumns& columns) {
  if (IsFarTooLong(timeline, request, most_bytes)) return false;
  return VisitRows(timeline, request, [&](uint32_t number, const Track& track, size_t row) {
    columns.BeginRow(number, static_cast<uint32_t>(row));
    const bool fits = row < track.rows.size()
                          ? columns.AddItems(timeline.events(), track.rows[row], most_bytes)
                          : columns.AddSamples(track.series[row - track.rows.size()], most_bytes);
    columns.EndRow();
    return fits;
  });
}

}  // namespace

std::string AnswerView(const Timeline& timeline, ViewRequest request, size_t most_bytes) {
  const ViewRequest asked = request;
  RoundRequest(request);
  bool shrunk = false;
  while (true) {
    ViewColumns columns(request.from_ns, request.to_ns, request.step_ns);
    if (Collect(timeline, request, most_bytes, columns)) {
      const bool changed = shrunk || request.step_ns != asked.step_ns;
      return columns.Encode(changed, request.generation);
    }
    const int64_t length_ns = request.to_ns - request.from_ns;
    if (!shrunk) {
      request.from_ns = RoundDown(request.from_ns + length_ns / 3, request.step_ns);
      request.to_ns = RoundDown(request.to_ns - length_ns / 3, request.step_ns) + request.step_ns;
      shrunk = true;
      continue;
    }
    const int64_t before_ns = request.step_ns;
    request.step_ns *= 2;
    RoundRequest(request);
    // Each row holds an item or two at the least.
    if (request.step_ns > length_ns || request.step_ns == before_ns) most_bytes *= 2;
  }
}

}  // namespace batchlight::timeline
