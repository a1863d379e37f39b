#include "timeline/answers/viewport.h"

#include <algorithm>
#include <bit>
#include <cmath>

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

// false: more than `most_bytes`.
bool Collect(const Timeline& timeline, const ViewRequest& request, size_t most_bytes,
             ViewColumns& columns) {
  for (const RowRange& range : request.rows) {
    if (range.track >= timeline.tracks().size()) continue;
    const Track& track = timeline.tracks()[range.track];
    const size_t end =
        std::min<size_t>(track.row_count(), size_t{range.first_row} + range.row_count);
    for (size_t row = range.first_row; row < end; ++row) {
      columns.BeginRow(range.track, static_cast<uint32_t>(row));
      const bool fits = row < track.rows.size()
                            ? columns.AddItems(timeline.events(), track.rows[row], most_bytes)
                            : columns.AddSamples(track.series[row - track.rows.size()], most_bytes);
      columns.EndRow();
      if (!fits) return false;
    }
  }
  return true;
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
