#include <algorithm>

#include "report/timeline/timeline_names.h"
#include "serve/api.h"
#include "timeline/answers/run_json.h"
#include "timeline/answers/viewport.h"

namespace batchlight::serve {
namespace {

using nlohmann::json;
using timeline::EventTable;
using timeline::kNoRef;

constexpr size_t kMostRows = 4096;
constexpr size_t kMostNames = 10'000;
constexpr size_t kMostLinks = 1000;
constexpr size_t kMostTimes = 10'000;

json PlaceJson(const timeline::Timeline& timeline, uint32_t ref, int64_t at_ns) {
  const timeline::EventPlace place = timeline.PlaceOf(ref);
  return {{"ref", ref},
          {"track", place.track == kNoRef ? json(nullptr) : json(place.track)},
          {"depth", place.row},
          {"at", at_ns}};
}

// The event that is asked for by ref, or by table and row; kNoRef: there is none.
uint32_t RefOf(const Snapshot& run, JsonRequest& request) {
  const timeline::Events& events = run.timeline().events();
  if (!request.Has("table")) {
    const auto ref = static_cast<uint32_t>(request.Integer("ref", 0, UINT32_MAX));
    return events.IsRef(ref) ? ref : kNoRef;
  }
  const auto reading = static_cast<uint32_t>(request.Integer("reading", 0, UINT32_MAX, 0));
  const EventTable* table = events.TableWithKey(request.Text("table", 100), reading);
  const auto row = static_cast<uint32_t>(request.Integer("row", 0, UINT32_MAX));
  const bool is_there =
      table != nullptr && row < table->rows && table->start_ns[row] < table->until_ns;
  return is_there ? table->first_ref + row : kNoRef;
}

}  // namespace

HttpResponse AnswerRun(const ApiContext& context, const Snapshot& run, JsonRequest&) {
  const bool growing = std::any_of(context.runs.begin(), context.runs.end(), [&](const auto& one) {
    return one->growing() && one->snapshot().get() == &run;
  });
  return JsonResponse(
      RunJson(run.timeline(),
              {.generation = run.generation(), .growing = growing, .complete = run.complete()}));
}

HttpResponse AnswerView(const ApiContext&, const Snapshot& run, JsonRequest& request) {
  timeline::ViewRequest view{.from_ns = request.Time("from"),
                             .to_ns = request.Time("to"),
                             .step_ns = request.Integer("step", 1, INT64_MAX / 4),
                             .rows = {},
                             .generation = run.generation()};
  for (const std::vector<uint32_t>& row : request.Triples("rows", kMostRows)) {
    view.rows.push_back({row[0], row[1], row[2]});
  }
  if (!request.ok()) return BadRequest(request);
  if (view.to_ns < view.from_ns) {
    return ErrorResponse(400, "bad_request", "`to` lies before `from`");
  }
  uint64_t rows = 0;
  for (const timeline::RowRange& range : view.rows) {
    if (range.track >= run.timeline().tracks().size()) continue;
    rows += std::min<uint64_t>(range.row_count, run.timeline().tracks()[range.track].row_count());
  }
  if (rows > kMostRows) return ErrorResponse(400, "bad_request", "`rows`: more than 4096 in all");
  return {.content_type = "application/octet-stream",
          .body = timeline::AnswerView(run.timeline(), std::move(view))};
}

HttpResponse AnswerNames(const ApiContext&, const Snapshot& run, JsonRequest& request) {
  const std::vector<uint32_t> ids = request.Numbers("ids", kMostNames);
  if (!request.ok()) return BadRequest(request);
  return JsonResponse(TimelineNames(run.timeline().names(), ids));
}

HttpResponse AnswerEvent(const ApiContext&, const Snapshot& run, JsonRequest& request) {
  const uint32_t ref = RefOf(run, request);
  const bool of_part = request.Has("from") || request.Has("to");
  const int64_t from_ns = of_part ? request.Time("from") : 0;
  const int64_t to_ns = of_part ? request.Time("to") : 0;
  if (!request.ok()) return BadRequest(request);
  if (ref == kNoRef) return ErrorResponse(404, "unknown", "there is no such event");
  json event = EventDetails(run.timeline(), run.links(), ref);
  if (of_part) event["line_within"] = LineWithin(run.timeline(), ref, from_ns, to_ns);
  return JsonResponse(event);
}

HttpResponse AnswerLinks(const ApiContext&, const Snapshot& run, JsonRequest& request) {
  const std::vector<uint32_t> refs = request.Numbers("refs", kMostLinks);
  const auto limit = static_cast<size_t>(request.Integer("limit", 1, kMostLinks, kMostLinks));
  if (!request.ok()) return BadRequest(request);
  const timeline::Timeline& timeline = run.timeline();
  json links = json::array();
  bool more = false;
  for (const uint32_t ref : refs) {
    if (!timeline.events().IsRef(ref)) continue;
    for (const timeline::EventLink& link : run.links().Of(ref, limit + 1)) {
      if (links.size() == limit) {
        more = true;
        break;
      }
      // An arrow begins where the work was asked for.
      const bool launch = link.kind == "launch";
      const int64_t from_ns =
          launch ? timeline.events().Start(link.from) : timeline.events().End(link.from);
      links.push_back({{"kind", link.kind},
                       {"from", PlaceJson(timeline, link.from, from_ns)},
                       {"to", PlaceJson(timeline, link.to, timeline.events().Start(link.to))}});
    }
  }
  return JsonResponse({{"links", std::move(links)}, {"more", more}});
}

HttpResponse AnswerTimes(const ApiContext&, const Snapshot& run, JsonRequest& request) {
  const std::vector<uint32_t> refs = request.Numbers("refs", kMostTimes);
  if (!request.ok()) return BadRequest(request);
  const timeline::Events& events = run.timeline().events();
  json times = json::array();
  for (const uint32_t ref : refs) {
    times.push_back(events.IsRef(ref) ? json{events.Start(ref), events.End(ref)} : json(nullptr));
  }
  return JsonResponse({{"times", std::move(times)}});
}

}  // namespace batchlight::serve
