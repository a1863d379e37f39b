#include "cli/ranks/flight_dumps.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <memory>
#include <string_view>
#include <utility>

#include "analysis/desync/flight_dump.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/memory_budget.h"
#include "cli/reading/job_input.h"
#include "ingest/input_paths.h"

namespace batchlight::cli {
namespace {

constexpr off_t kMostBytes = 512 << 20;
constexpr uint64_t kBytesPerValue = 48;
constexpr size_t kHeadBytes = 64;
// Files that are something else by their names: ten thousand need not be opened for that.
constexpr std::string_view kOthers[] = {".batchlight", ".live", ".sqlite", ".csv"};

// Whether a regular file begins as a dump does.
bool BeginsAsDump(const std::string& path) {
  if (std::any_of(std::begin(kOthers), std::end(kOthers),
                  [&](std::string_view ending) { return path.ends_with(ending); })) {
    return false;
  }
  struct stat info {};
  if (stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return false;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             std::fclose);
  if (file == nullptr) return false;
  std::string head(kHeadBytes, '\0');
  head.resize(std::fread(head.data(), 1, head.size(), file.get()));
  return IsFlightDump(head);
}

// Those in a folder; none if it has runs. Other pickles may lie there: only names that end with a
// rank count.
Result<std::vector<std::string>> DumpsIn(const std::string& path) {
  constexpr std::string_view kRuns[] = {".batchlight", ".live", ".sqlite", ".nsys-rep", ".json.gz"};
  ASSIGN_OR_RETURN(const Folder folder, Folder::Open(path));
  std::vector<std::string> dumps;
  for (const std::string& name : folder.Names()) {
    if (std::any_of(std::begin(kRuns), std::end(kRuns),
                    [&](std::string_view ending) { return name.ends_with(ending); })) {
      return std::vector<std::string>();
    }
    const std::string file = path + (path.ends_with('/') ? "" : "/") + name;
    const bool is_dump = RankInName(name) >= 0 && BeginsAsDump(file);
    if (!is_dump && name.ends_with(".json")) return std::vector<std::string>();  // a trace
    if (is_dump) dumps.push_back(file);
  }
  return dumps;
}

Result<FlightDump> ReadDump(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) == 0 && info.st_size > kMostBytes) {
    return InputError("cannot read " + path + ": it is larger than 512 MiB");
  }
  const auto size = static_cast<uint64_t>(info.st_size);
  // Each byte may be a value.
  RETURN_IF_ERROR(CheckMemory(path, size + std::min(size, kMostFlightValues) * kBytesPerValue));
  ASSIGN_OR_RETURN(const std::string bytes, ReadWholeFile(path));
  Result<FlightDump> dump = ReadFlightDump(bytes);
  if (!dump.ok()) return Status(dump.status()).WithContext("cannot read " + path);
  dump->label = NameOfInput(path);
  if (dump->rank < 0) dump->rank = RankInName(dump->label);
  if (dump->rank < 0) {
    return InputError("cannot read " + path +
                      ": its name ends with no rank, as nccl_trace_rank_3 does");
  }
  return dump;
}

}  // namespace

Result<std::optional<DesyncResult>> TryFlightDumps(const std::vector<std::string>& words) {
  std::vector<std::string> paths;
  std::string other;
  for (const std::string& word : words) {
    std::vector<std::string> dumps;
    if (IsFolderOfRuns(word)) {
      ASSIGN_OR_RETURN(dumps, DumpsIn(word));
      if (dumps.empty()) other = word;
    } else if (auto files = FindInputs({word}); files.ok()) {
      for (const std::string& file : files.value()) {
        if (BeginsAsDump(file))
          dumps.push_back(file);
        else
          other = file;
      }
    } else {
      other = word;
    }
    paths.insert(paths.end(), dumps.begin(), dumps.end());
  }
  if (paths.empty()) return std::optional<DesyncResult>();
  if (!other.empty()) {
    return InputError(other + " is no dump of a flight recorder, as " + paths[0] +
                      " is: read them one kind at a time");
  }
  const MemoryWatch memory(words[0]);
  DesyncFinder finder;
  std::vector<std::string> notes;
  for (const std::string& path : paths) {
    const Result<FlightDump> dump = ReadDump(path);
    if (!dump.ok()) {
      if (paths.size() == 1) return dump.status();
      notes.push_back(dump.status().message() + ": left out");
      continue;
    }
    finder.Add(dump.value());
    RETURN_IF_ERROR(memory.Check());
  }
  if (notes.size() == paths.size()) return InputError(notes[0]);
  DesyncResult result = finder.Finish();
  result.notes.insert(result.notes.begin(), notes.begin(), notes.end());
  return std::optional<DesyncResult>(std::move(result));
}

}  // namespace batchlight::cli
