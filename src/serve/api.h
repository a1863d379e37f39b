// The calls of the page, each from a checked request to an answer
// (docs/design/0016-timeline.md, "Calls").
#pragma once

#include <memory>
#include <span>
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
using RunCall = HttpResponse(const ApiContext& context, const Snapshot& run, JsonRequest& request);
struct RunCallEntry {
  std::string_view name;
  RunCall* call;
};

// All of them.
std::span<const RunCallEntry> RunCalls();

// By subject: pictures and events, searches, tables.
RunCall AnswerRun, AnswerView, AnswerNames, AnswerEvent, AnswerLinks;
RunCall AnswerFind, AnswerNext, AnswerLongest, AnswerDensity;
RunCall AnswerRange, AnswerCompare, AnswerNotes, AnswerPutNotes;

HttpResponse JsonResponse(const nlohmann::json& json);
HttpResponse BadRequest(const JsonRequest& request);

}  // namespace batchlight::serve
