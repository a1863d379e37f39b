#include "serve/api.h"

#include <algorithm>

#include "base/work_progress.h"
#include "serve/notes_file.h"
#include "timeline/answers/run_json.h"

namespace batchlight::serve {
namespace {

using nlohmann::json;

constexpr RunCallEntry kCalls[] = {
    {"run", AnswerRun},         {"view", AnswerView},          {"names", AnswerNames},
    {"event", AnswerEvent},     {"links", AnswerLinks},        {"times", AnswerTimes},
    {"find", AnswerFind},       {"next", AnswerNext},          {"longest", AnswerLongest},
    {"density", AnswerDensity}, {"range", AnswerRange},        {"compare", AnswerCompare},
    {"notes", AnswerNotes},     {"notes_put", AnswerPutNotes},
};

json StatusOf(const Opening& opening) {
  const double share = ReadingProgress().share();
  return {{"source", opening.source},
          {"generation", 0},
          {"ready", false},
          {"growing", false},
          {"progress", share},
          {"doing", (share < 1 ? "reading " : "ordering the events of ") + opening.source},
          {"error", ""}};
}

std::string_view ChangedText(FileChange change) {
  switch (change) {
    case FileChange::kNone:
      return "";
    case FileChange::kReplaced:
      return "replaced";
    case FileChange::kRemoved:
      return "removed";
  }
  return "";
}

HttpResponse AnswerStatus(const ApiContext& context) {
  json runs = json::array();
  if (!context.runs_known()) {
    runs.push_back(StatusOf(*context.opening));
    return JsonResponse({{"version", context.version}, {"runs", std::move(runs)}});
  }
  for (const std::unique_ptr<Run>& run : context.runs) {
    run->Follow();
    const std::shared_ptr<const Snapshot> snapshot = run->snapshot();
    runs.push_back({{"source", run->path()},
                    {"generation", snapshot == nullptr ? 0 : snapshot->generation()},
                    {"ready", snapshot != nullptr},
                    {"growing", run->growing()},
                    {"progress", snapshot == nullptr ? 0.0 : 1.0},
                    {"doing", snapshot == nullptr ? "ordering the events of " + run->path() : ""},
                    {"error", ""},
                    {"changed", ChangedText(run->change())},
                    {"notes", snapshot == nullptr ? "" : NotesStamp(snapshot->store().source)}});
  }
  return JsonResponse({{"version", context.version}, {"runs", std::move(runs)}});
}

}  // namespace

std::span<const RunCallEntry> RunCalls() { return kCalls; }

HttpResponse JsonResponse(const json& value) { return {.body = timeline::DumpJson(value)}; }

HttpResponse BadRequest(const JsonRequest& request) {
  return ErrorResponse(400, "bad_request", request.problem());
}

HttpResponse AnswerCall(const ApiContext& context, std::string_view call, std::string_view body) {
  JsonRequest request(body);
  if (!request.ok()) return BadRequest(request);
  if (call == "status") return AnswerStatus(context);
  const auto entry = std::find_if(std::begin(kCalls), std::end(kCalls),
                                  [&](const RunCallEntry& known) { return known.name == call; });
  if (entry == std::end(kCalls)) {
    return ErrorResponse(404, "unknown", "there is no call " + std::string(call));
  }
  const int64_t number = request.Integer("run", 0, INT32_MAX, 0);
  const int64_t generation = request.Integer("generation", 0, UINT32_MAX, 0);
  if (!request.ok()) return BadRequest(request);
  if (!context.runs_known()) {
    return ErrorResponse(409, "generation", "the recording is still being read: ask `status`");
  }
  if (static_cast<size_t>(number) >= context.runs.size()) {
    return ErrorResponse(404, "unknown", "there is no run " + std::to_string(number));
  }
  const std::shared_ptr<const Snapshot> run = context.runs[static_cast<size_t>(number)]->snapshot();
  if (run == nullptr) return ErrorResponse(409, "generation", "the recording is still being read");
  if (generation != 0 && generation != int64_t{run->generation()}) {
    return ErrorResponse(409, "generation", "the recording was read anew: ask `run` again");
  }
  return entry->call(context, *run, request);
}

}  // namespace batchlight::serve
