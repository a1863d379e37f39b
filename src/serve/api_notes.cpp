#include <unistd.h>

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
  const json* notes = request.Find("notes");
  if (notes == nullptr) return ErrorResponse(400, "bad_request", "`notes` is missing");
  const Status status = WriteNotes(NotesPath(run.store().source), *notes);
  if (!status.ok()) return NotesError(status);
  return AnswerNotes(context, run, request);
}

}  // namespace batchlight::serve
