#include <algorithm>

#include "serve/api.h"
#include "timeline/answers/gap_search.h"
#include "timeline/answers/name_search.h"
#include "timeline/answers/near_names.h"
#include "timeline/answers/run_json.h"

namespace batchlight::serve {
namespace {

using nlohmann::json;
using timeline::EventFilter;
using timeline::kNoRef;

constexpr size_t kMostText = 1000;
constexpr int64_t kMostBins = 4096;

// What the request is about: `name`, `text` or `kind`: "gap"; of these, those of `table`.
EventFilter FilterOf(const Snapshot& run, JsonRequest& request) {
  const timeline::Timeline& timeline = run.timeline();
  std::string table = request.Text("table", kMostText, "");
  // One kind only so far; another one finds nothing.
  const bool has_kind = request.Has("kind");
  if (has_kind) table = request.Text("kind", kMostText) == "gap" ? "gpu_idle" : "?";
  if (request.Has("name")) {
    return EventFilter::OfName(timeline,
                               static_cast<uint32_t>(request.Integer("name", 0, UINT32_MAX)))
        .In(table);
  }
  if (has_kind) return EventFilter::OfTable(timeline, table);
  const std::string text = request.Text("text", kMostText);
  if (request.Integer("called", 0, 1, 0) == 1) return EventFilter::Called(timeline, text, table);
  if (request.Has("text_at")) {
    const auto place = static_cast<timeline::TextAt>(request.Integer("text_at", 0, 2));
    return EventFilter::OfTextAt(timeline, text, place).In(table);
  }
  return EventFilter::OfText(timeline, text).In(table);
}

json EventOrNull(const Snapshot& run, uint32_t ref) {
  return ref == kNoRef ? json(nullptr) : EventJson(run.timeline(), ref);
}

// Of the gaps of a GPU in the steps that count.
HttpResponse AnswerLongestGap(const Snapshot& run, uint64_t nth) {
  const timeline::LongestGap gap = NthLongestGap(run.timeline(), nth);
  json outside = json::array();
  for (const timeline::GapElsewhere& other : gap.outside) {
    outside.push_back({{"event", EventJson(run.timeline(), other.ref)}, {"where", other.where}});
  }
  return JsonResponse({{"event", EventOrNull(run, gap.found.ref)},
                       {"count", gap.found.count},
                       {"steps", gap.steps},
                       {"outside", std::move(outside)}});
}

}  // namespace

HttpResponse AnswerFind(const ApiContext&, const Snapshot& run, JsonRequest& request) {
  const timeline::Timeline& timeline = run.timeline();
  const std::string text = request.Text("text", kMostText, "");
  const auto limit = static_cast<size_t>(request.Integer("limit", 1, 1000, 100));
  if (!request.ok()) return BadRequest(request);
  std::vector<timeline::NameMatch> sums = SumByName(timeline, EventFilter::OfText(timeline, text));
  auto first = sums.begin();
  for (const timeline::TextAt place : {timeline::TextAt::kWhole, timeline::TextAt::kBegin}) {
    first = std::stable_partition(first, sums.end(), [&](const timeline::NameMatch& sum) {
      return timeline::PlaceOfText(timeline.names().Text(sum.name), text) == place;
    });
  }
  json matches = json::array();
  uint64_t events = 0;
  int64_t total_ns = 0;
  for (const timeline::NameMatch& sum : sums) {
    events += sum.count;
    total_ns += sum.total_ns;
    if (matches.size() == limit) continue;
    matches.push_back({{"name", sum.name},
                       {"text", std::string(timeline.names().Text(sum.name).substr(0, kMostText))},
                       {"count", sum.count},
                       {"total", sum.total_ns},
                       {"longest", sum.longest_ns},
                       {"longest_ref", sum.longest_ref},
                       {"table", sum.table}});
  }
  return JsonResponse({{"near", sums.empty() ? timeline::NearNamesText(timeline, text) : ""},
                       {"matches", std::move(matches)},
                       {"more", sums.size() > limit},
                       {"events", events},
                       {"total", total_ns}});
}

HttpResponse AnswerNext(const ApiContext&, const Snapshot& run, JsonRequest& request) {
  const EventFilter filter = FilterOf(run, request);
  const int64_t at_ns = request.Time("at");
  const int64_t direction = request.Integer("direction", -1, 1, 1);
  const int64_t least_ns = request.Time("least", 0);
  const int64_t track = request.Integer("track", -1, UINT32_MAX, -1);
  if (!request.ok()) return BadRequest(request);
  const uint32_t wanted = track < 0 ? kNoRef : static_cast<uint32_t>(track);
  return JsonResponse({{"event", EventOrNull(run, NextEvent(run.timeline(), filter,
                                                            {.at_ns = at_ns,
                                                             .forward = direction >= 0,
                                                             .least_ns = least_ns,
                                                             .track = wanted}))}});
}

HttpResponse AnswerLongest(const ApiContext&, const Snapshot& run, JsonRequest& request) {
  const EventFilter filter = FilterOf(run, request);
  const int64_t nth = request.Integer("nth", 0, UINT32_MAX, 0);
  const int64_t from_ns = request.Time("from", INT64_MIN / 4);
  const int64_t to_ns = request.Time("to", INT64_MAX / 4);
  const bool gaps = request.Text("kind", kMostText, "") == "gap";
  const bool in_steps = request.Text("within", kMostText, "") == "steps";
  if (!request.ok()) return BadRequest(request);
  const auto rank = static_cast<uint64_t>(nth);
  if (gaps && in_steps) return AnswerLongestGap(run, rank);
  const timeline::LongestEvents found =
      in_steps ? NthLongestInSteps(run.timeline(), filter, rank)
               : NthLongest(run.timeline(), filter, rank, from_ns, to_ns);
  return JsonResponse({{"event", EventOrNull(run, found.ref)}, {"count", found.count}});
}

HttpResponse AnswerDensity(const ApiContext&, const Snapshot& run, JsonRequest& request) {
  const EventFilter filter = FilterOf(run, request);
  const int64_t from_ns = request.Time("from");
  const int64_t to_ns = request.Time("to");
  const int64_t bins = request.Integer("bins", 1, kMostBins);
  if (!request.ok()) return BadRequest(request);
  const std::vector<uint32_t> counts =
      Density(run.timeline(), filter, from_ns, to_ns, static_cast<size_t>(bins));
  return JsonResponse(
      {{"bins", counts}, {"most", *std::max_element(counts.begin(), counts.end())}});
}

}  // namespace batchlight::serve
