// The calls of the page, each from a checked request to an answer
// (docs/design/0016-timeline.md, "Calls").
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "serve/http.h"
#include "serve/json_request.h"
#include "serve/run.h"

namespace batchlight::serve {

// The first reading, which the page may wait for.
struct Opening {
  std::string source;                    // what is read; ReadingProgress() tells how far
  std::atomic<bool> runs_known = false;  // from then on ApiContext::runs does not change
};

struct ApiContext {
  std::vector<std::unique_ptr<Run>> runs;
  std::string version;
  const Opening* opening = nullptr;  // nullptr: all was read before

  bool runs_known() const { return opening == nullptr || opening->runs_known; }
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
RunCall AnswerRun, AnswerView, AnswerNames, AnswerEvent, AnswerLinks, AnswerTimes;
RunCall AnswerFind, AnswerNext, AnswerLongest, AnswerDensity;
RunCall AnswerRange, AnswerCompare, AnswerNotes, AnswerPutNotes;

HttpResponse JsonResponse(const nlohmann::json& json);
HttpResponse BadRequest(const JsonRequest& request);

}  // namespace batchlight::serve
