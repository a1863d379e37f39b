#include <unistd.h>

#include <mutex>

#include "serve/api.h"
#include "serve/notes_file.h"
#include "timeline/answers/run_json.h"

namespace batchlight::serve {
namespace {

using nlohmann::json;

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == path.npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

constexpr size_t kMostDropped = kMostNotesBytes / 4;  // an id and its quotes each

// What a page adds is written to what the file holds.
std::mutex g_writing;

const Run* RunOf(const ApiContext& context, const Snapshot& snapshot) {
  for (const auto& run : context.runs) {
    if (run->snapshot().get() == &snapshot) return run.get();
  }
  return nullptr;
}

HttpResponse NotesError(const Status& status) {
  if (status.kind() == ErrorKind::kUsage)
    return ErrorResponse(400, "bad_request", status.message());
  return ErrorResponse(500, "internal", status.message());
}

}  // namespace

HttpResponse AnswerNotes(const ApiContext&, const Snapshot& run, JsonRequest&) {
  const std::string path = NotesPath(run.store().source);
  const Result<json> notes = ReadNotes(path);
  if (!notes.ok()) return NotesError(notes.status());
  return JsonResponse({{"notes", notes.value()},
                       {"hash", timeline::RunHash(run.store())},
                       {"writable", access(FolderOf(path).c_str(), W_OK) == 0}});
}

HttpResponse AnswerPutNotes(const ApiContext& context, const Snapshot& run, JsonRequest& request) {
  const json* set = request.Find("set");
  if (set == nullptr) return ErrorResponse(400, "bad_request", "`set` is missing");
  std::vector<std::string> dropped;
  if (request.Has("drop")) dropped = request.Texts("drop", kMostDropped);
  if (!request.ok()) return BadRequest(request);
  // They would stand beside another recording.
  if (const Run* served = RunOf(context, run); served && served->change() != FileChange::kNone) {
    return ErrorResponse(409, "changed",
                         served->path() + " was changed, replaced or removed since it was read");
  }
  {
    const std::lock_guard<std::mutex> lock(g_writing);
    const Status status = ChangeNotes(run.store().source, *set, dropped);
    if (!status.ok()) return NotesError(status);
  }
  return AnswerNotes(context, run, request);
}

}  // namespace batchlight::serve
