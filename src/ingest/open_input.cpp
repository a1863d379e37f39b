#include "ingest/open_input.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/file.h"
#include "base/folder.h"
#include "base/printable_text.h"
#include "format/layout.h"
#include "ingest/common/emit_nvtx.h"
#include "ingest/kineto/kineto_json.h"
#include "ingest/nsys/nsys_sqlite.h"
#include "ingest/recording/recording.h"
#include "store/reason_features.h"

namespace batchlight {
namespace {

constexpr std::string_view kLiveSuffix = ".live";
constexpr std::string_view kNsysReportSuffixes[] = {".nsys-rep", ".qdrep"};

InputFormat FormatOfBytes(std::string_view head) {
  if (head.starts_with(std::string_view("SQLite format 3\0", 16))) return InputFormat::kNsysSqlite;
  // Compared without the version digit, because a newer layout has its own error message.
  if (head.starts_with(std::string_view(format::kFileMagic, 6))) {
    return InputFormat::kSealedRecording;
  }
  if (head.starts_with("\x1f\x8b")) return InputFormat::kKinetoJson;  // gzip
  if (head.starts_with("\xef\xbb\xbf")) head.remove_prefix(3);
  const size_t text = head.find_first_not_of(" \t\r\n");
  if (text != std::string_view::npos && (head[text] == '{' || head[text] == '[')) {
    return InputFormat::kKinetoJson;
  }
  return InputFormat::kUnknown;
}

Status CannotOpen(const std::string& path) {
  return InputError("cannot open " + path + ": " + std::strerror(errno));
}

Result<Store> OpenAs(InputFormat input_format, const std::string& path, const InputUse& use) {
  switch (input_format) {
    case InputFormat::kSealedRecording:
    case InputFormat::kLiveFolder:
      return ReadRecording(path, use.recorded);
    case InputFormat::kNsysSqlite:
      return ImportNsysSqlite(path, use.doubled_calls);
    case InputFormat::kKinetoJson:
      return ImportKinetoJson(path);
    case InputFormat::kUnknown:
      break;
  }
  return InputError("cannot read " + path +
                    ": not a batchlight recording, an nsys SQLite export or a torch.profiler "
                    "JSON trace");
}

// Of a name beside the one that was given. Nobody typed it: a link under it, of another user who
// may write the folder, could lead to what only this user can read.
bool LiesThere(const std::string& path) {
  if (!FileExists(path)) return false;
  const auto folder = Folder::OpenParent(path);
  return folder.ok() && !folder->IsLinkOfOthers(LastPartOf(path));
}

}  // namespace

Result<InputFormat> DetectFormat(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return CannotOpen(path);
  if (S_ISDIR(info.st_mode)) return InputFormat::kLiveFolder;
  if (!S_ISREG(info.st_mode)) return InputError("cannot read " + path + ": not a regular file");
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return CannotOpen(path);
  std::array<char, 256> head{};
  const ssize_t count = read(fd, head.data(), head.size());
  const int error = errno;
  close(fd);
  errno = error;
  if (count < 0) return CannotOpen(path);
  return FormatOfBytes({head.data(), static_cast<size_t>(count)});
}

Result<std::string> PlaceOfInput(const std::string& path) {
  for (const std::string_view suffix : kNsysReportSuffixes) {
    if (!path.ends_with(suffix)) continue;
    std::string database = path.substr(0, path.size() - suffix.size()) + ".sqlite";
    if (LiesThere(database)) return database;
    return InputError("cannot read " + path + ": only nsys reads such files; run `nsys export -t " +
                      "sqlite " + ShellPath(path) + "`, then give " + database);
  }
  if (FileExists(path)) return path;
  // As `profile -o` takes a name: without the ending, and while the run goes on.
  const std::string recording = ".batchlight", live(kLiveSuffix);
  for (const std::string& ending : {live, recording, recording + live}) {
    if (LiesThere(path + ending)) return path + ending;
  }
  return path;
}

Result<Store> OpenInput(const std::string& path, const InputUse& use) {
  ASSIGN_OR_RETURN(const std::string place, PlaceOfInput(path));
  ASSIGN_OR_RETURN(const InputFormat input_format, DetectFormat(place));
  ASSIGN_OR_RETURN(Store store, OpenAs(input_format, place, use));
  store.source = place;
  if (use.operators) OperatorsFromRanges(store);
  if (place.ends_with(kLiveSuffix)) {
    const std::string text = "the recording is not sealed: read from " + place +
                             ", as far as it was written; if batchlight was killed, `batchlight " +
                             "trace seal " + ShellPath(place) +
                             "` makes a recording of it once its program has ended";
    store.reasons.Append(
        {.feature = store.strings.Intern(kUnsealedFeature), .text = store.strings.Intern(text)});
  }
  return store;
}

Result<Store> OpenSealed(MappedFile file, const std::string& path) {
  ASSIGN_OR_RETURN(Store store, ReadRecording(std::move(file), path));
  OperatorsFromRanges(store);
  return store;
}

std::vector<std::string> ReadingNotes(const Store& store) {
  std::vector<std::string> notes;
  for (size_t row = 0; row < store.reasons.size(); ++row) {
    if (!IsReadingFeature(store.Text(store.reasons.feature[row]))) continue;
    notes.emplace_back(store.Text(store.reasons.text[row]));
  }
  return notes;
}

}  // namespace batchlight
