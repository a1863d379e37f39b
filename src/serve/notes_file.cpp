#include "serve/notes_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>
#include <unordered_map>
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

void Drop(const std::vector<std::string>& ids, json& notes) {
  const std::unordered_set<std::string_view> dropped(ids.begin(), ids.end());
  json kept = json::array();
  for (json& note : notes) {
    if (!dropped.contains(IdOf(note))) kept.push_back(std::move(note));
  }
  notes = std::move(kept);
}

void Set(const json& set, json& notes) {
  std::unordered_map<std::string, size_t> places;
  for (size_t i = 0; i < notes.size(); ++i) places.emplace(IdOf(notes[i]), i);
  for (const json& note : set) {
    const auto [place, is_new] = places.emplace(IdOf(note), notes.size());
    if (is_new) {
      notes.push_back(note);
    } else {
      notes[place->second] = note;
    }
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

std::string NotesStamp(const std::string& run) {
  const std::filesystem::path path = NotesPath(run);
  std::error_code error;
  const auto written = std::filesystem::last_write_time(path, error);
  if (error) return "";
  return std::to_string(std::filesystem::file_size(path, error)) + "-" +
         std::to_string(written.time_since_epoch().count());
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

Status ChangeNotes(const std::string& run, const json& set,
                   const std::vector<std::string>& dropped) {
  if (!IsListOfNotes(set)) return UsageError("`set`: a list of objects");
  const std::string path = NotesPath(run);
  // What cannot be read as notes is not replaced either: it may be notes with a slip in them.
  ASSIGN_OR_RETURN(json notes, ReadNotes(path));
  Drop(dropped, notes);
  Set(set, notes);
  const std::string text = timeline::DumpJson({{"notes", notes}}) + "\n";
  if (text.size() > kMostNotesBytes) return UsageError("the notes: longer than 1 MiB");
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
