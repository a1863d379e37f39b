#include "timeline/answers/viewport.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

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

// About how many items a row has at the most: no more than it has events, and one a step where it
// has any, as a look in steps of so many finds.
uint64_t MostItems(const Events& events, const Track& track, size_t row,
                   const ViewRequest& request) {
  constexpr int64_t kSteps = 256;
  const auto steps = static_cast<uint64_t>((request.to_ns - request.from_ns) / request.step_ns);
  if (row >= track.rows.size()) {
    return std::min<uint64_t>(steps, track.series[row - track.rows.size()].size());
  }
  const EventRow& of_row = track.rows[row];
  const size_t begin = of_row.FirstFrom(events, request.from_ns);
  const size_t end = std::max(begin, of_row.FirstBegun(events, request.to_ns));
  uint64_t looked = 0;
  of_row.VisitItems(
      events, request.from_ns, request.to_ns, request.step_ns * kSteps, [&](const RowItem& item) {
        const auto length_ns = static_cast<uint64_t>(item.end_ns - item.start_ns);
        looked +=
            std::min<uint64_t>(item.count, 1 + length_ns / static_cast<uint64_t>(request.step_ns));
        return looked < steps;
      });
  return std::min<uint64_t>({steps, end - begin, looked});
}

// Whether an answer will be too long is told from its first rows, so that not most of an answer is
// put together only to be thrown away: they hold a share of what all rows hold at the most.
class LengthGuess {
 public:
  LengthGuess(const Timeline& timeline, const ViewRequest& request) {
    VisitRows(timeline, request, [&](uint32_t, const Track& track, size_t row) {
      row_most_.push_back(MostItems(timeline.events(), track, row, request));
      most_ += row_most_.back();
      return true;
    });
  }

  // After each row, with the bytes of all rows until then.
  bool FarTooLong(size_t bytes, size_t most_bytes) {
    seen_ += row_most_[rows_++];
    if (rows_ < kLeastRows || seen_ == 0) return false;
    const double all =
        static_cast<double>(bytes) * static_cast<double>(most_) / static_cast<double>(seen_);
    return all > kMargin * static_cast<double>(most_bytes);
  }

 private:
  static constexpr size_t kLeastRows = 4;
  static constexpr double kMargin = 1.25;

  std::vector<uint64_t> row_most_;
  uint64_t most_ = 0;
  uint64_t seen_ = 0;
  size_t rows_ = 0;
};

// false: more than `most_bytes`.
bool Collect(const Timeline& timeline, const ViewRequest& request, size_t most_bytes,
             ViewColumns& columns) {
  LengthGuess guess(timeline, request);
  return VisitRows(timeline, request, [&](uint32_t number, const Track& track, size_t row) {
    columns.BeginRow(number, static_cast<uint32_t>(row));
    const bool fits = row < track.rows.size()
                          ? columns.AddItems(timeline.events(), track.rows[row], most_bytes)
                          : columns.AddSamples(track.series[row - track.rows.size()], most_bytes);
    columns.EndRow();
    return fits && !guess.FarTooLong(columns.bytes(), most_bytes);
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
