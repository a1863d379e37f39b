// The calls of the page, each from a checked request to an answer
// (docs/design/0016-timeline.md, "Calls").
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "serve/http.h"
#include "serve/json_request.h"
#include "serve/run.h"

namespace batchlight::serve {

struct ApiContext {
  std::vector<std::unique_ptr<Run>> runs;
  std::string version;
};

// `call`: "view". 404 for one that there is not.
HttpResponse AnswerCall(const ApiContext& context, std::string_view call, std::string_view body);

// One call about one reading of a run. Sets a problem of the request rather than answer.
using RunCall = HttpResponse (*)(const ApiContext& context, const Snapshot& run,
                                 JsonRequest& request);
struct RunCallEntry {
  std::string_view name;
  RunCall call;
};

// By subject: pictures and events, searches, tables.
HttpResponse AnswerRun(const ApiContext&, const Snapshot& run, JsonRequest& request);
HttpResponse AnswerView(const ApiContext&, const Snapshot& run, JsonRequest& request);
HttpResponse AnswerNames(const ApiContext&, const Snapshot& run, JsonRequest& request);
HttpResponse AnswerEvent(const ApiContext&, const Snapshot& run, JsonRequest& request);
HttpResponse AnswerLinks(const ApiContext&, const Snapshot& run, JsonRequest& request);
HttpResponse AnswerFind(const ApiContext&, const Snapshot& run, JsonRequest& request);
HttpResponse AnswerNext(const ApiContext&, const Snapshot& run, JsonRequest& request);
HttpResponse AnswerLongest(const ApiContext&, const Snapshot& run, JsonRequest& request);
HttpResponse AnswerDensity(const ApiContext&, const Snapshot& run, JsonRequest& request);
HttpResponse AnswerRange(const ApiContext&, const Snapshot& run, JsonRequest& request);
HttpResponse AnswerCompare(const ApiContext&, const Snapshot& run, JsonRequest& request);
HttpResponse AnswerNotes(const ApiContext&, const Snapshot& run, JsonRequest& request);
HttpResponse AnswerPutNotes(const ApiContext&, const Snapshot& run, JsonRequest& request);

HttpResponse JsonResponse(const nlohmann::json& json);
HttpResponse BadRequest(const JsonRequest& request);

}  // namespace batchlight::serve
