#include "serve/notes_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "base/file.h"
#include "serve/json_request.h"
#include "timeline/answers/run_json.h"

namespace batchlight::serve {
namespace {

using nlohmann::json;

bool IsListOfNotes(const json& notes) {
  return notes.is_array() &&
         std::all_of(notes.begin(), notes.end(), [](const json& note) { return note.is_object(); });
}

std::string_view IdOf(const json& note) {
  const auto id = note.find("id");
  if (id == note.end() || !id->is_string()) return {};
  return id->get_ref<const std::string&>();
}

// A page tells notes apart by their ids: one that was written by hand may have none.
void GiveIds(json& notes) {
  std::unordered_set<std::string> ids;
  for (const json& note : notes) ids.emplace(IdOf(note));
  size_t number = 0;
  for (json& note : notes) {
    if (!IdOf(note).empty()) continue;
    std::string id;
    do id = "file-" + std::to_string(++number);
    while (!ids.insert(id).second);
    note["id"] = std::move(id);
  }
}

}  // namespace

std::string NotesPath(const std::string& run) {
  std::string path = run;
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  // A recording keeps its notes when it is sealed.
  if (constexpr std::string_view kLive = ".live"; path.ends_with(kLive)) {
    path.resize(path.size() - kLive.size());
  }
  return path + ".notes.json";
}

Result<json> ReadNotes(const std::string& path) {
  // A link of somebody else's would show, and copy beside the run, notes that are this user's
  // alone.
  ASSIGN_OR_RETURN(const Folder folder, Folder::OpenParent(path));
  if (!folder.Has(LastPartOf(path))) return json(json::array());
  ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(folder, LastPartOf(path)));
  if (file.text().size() > kMostNotesBytes) return InputError(path + ": longer than 1 MiB");
  const JsonRequest body(file.text());
  const json* notes = body.Find("notes");
  if (!body.ok() || notes == nullptr || !IsListOfNotes(*notes)) {
    return InputError(path + ": no file of notes; move it away to begin anew");
  }
  json found = *notes;
  GiveIds(found);
  return found;
}

Status WriteNotes(const std::string& run, json notes,
                  const std::optional<std::vector<std::string>>& known) {
  if (!IsListOfNotes(notes)) return UsageError("`notes`: a list of objects");
  const std::string path = NotesPath(run);
  // What cannot be read as notes is not replaced either: it may be notes with a slip in them.
  ASSIGN_OR_RETURN(const json before, ReadNotes(path));
  std::vector<std::string> ids = known.value_or(std::vector<std::string>());
  for (const json& note : notes) ids.emplace_back(IdOf(note));
  std::sort(ids.begin(), ids.end());
  for (const json& note : before) {
    const std::string_view id = IdOf(note);
    if (!known || std::binary_search(ids.begin(), ids.end(), id)) continue;
    notes.push_back(note);
  }
  const std::string text = timeline::DumpJson({{"notes", notes}}) + "\n";
  if (text.size() > kMostNotesBytes) return UsageError("`notes`: longer than 1 MiB");
  struct stat of_run {};
  const bool known_run = stat(run.c_str(), &of_run) == 0;
  ASSIGN_OR_RETURN(AtomicFileWriter writer,
                   AtomicFileWriter::Create(path, {.is_private = known_run}));
  const mode_t mode = (of_run.st_mode & 0666) | 0600;
  if (known_run && fchmod(writer.fd(), mode) != 0) {
    return OutputError("cannot give " + path + " the mode of the run");
  }
  RETURN_IF_ERROR(writer.Write(text));
  return writer.Commit();
}

}  // namespace batchlight::serve
