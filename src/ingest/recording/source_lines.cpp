#include "ingest/recording/source_lines.h"

#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/file.h"
#include "base/json_text.h"

namespace batchlight {
namespace {

constexpr uintmax_t kMostFileBytes = 4 << 20;
constexpr size_t kMostLineBytes = 200;

bool IsWanted(std::string_view path) {
  return path.starts_with('/') && path.ends_with(".py") && path.find("-packages/") == path.npos;
}

bool IsUnchanged(const std::string& path, int64_t end_utc_ns) {
  std::error_code error;
  const std::filesystem::directory_entry file(path, error);
  if (error || !file.is_regular_file(error) || file.file_size(error) > kMostFileBytes) return false;
  const auto changed = std::chrono::file_clock::to_sys(file.last_write_time(error));
  const auto since_epoch =
      std::chrono::duration_cast<std::chrono::nanoseconds>(changed.time_since_epoch());
  return !error && since_epoch.count() <= end_utc_ns;
}

std::string_view Trimmed(std::string_view line) {
  constexpr std::string_view kSpace = " \t\r\f\v";
  const size_t first = line.find_first_not_of(kSpace);
  if (first == line.npos) return {};
  return line.substr(first, line.find_last_not_of(kSpace) + 1 - first).substr(0, kMostLineBytes);
}

// Where each line of a text begins and ends.
std::vector<std::string_view> LinesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
  }
  return lines;
}

// Rows of python_frames by file whose text may be read.
std::map<StringId, std::vector<uint32_t>> WantedFiles(const Store& store) {
  const PythonFramesTable& frames = store.python_frames;
  std::map<StringId, std::vector<uint32_t>> rows_of_file;
  for (uint32_t row = 0; row < frames.size(); ++row) {
    if (IsWanted(store.Text(frames.file[row]))) rows_of_file[frames.file[row]].push_back(row);
  }
  return rows_of_file;
}

// An error where it cannot be read or is not as it was.
Result<std::string> ReadUnchanged(const Store& store, const std::string& path) {
  if (!IsUnchanged(path, store.session_start_utc_ns + store.duration_ns)) {
    return InputError(path + " has been changed since the run");
  }
  return ReadWholeFile(path);
}

}  // namespace

void ReadSourceLines(Store& store) {
  PythonFramesTable& frames = store.python_frames;
  for (const auto& [file, rows] : WantedFiles(store)) {
    const Result<std::string> text = ReadUnchanged(store, std::string(store.Text(file)));
    if (!text.ok()) continue;
    const std::vector<std::string_view> lines = LinesOf(text.value());
    for (const uint32_t row : rows) {
      const uint32_t line = frames.line[row];
      if (line == 0 || line > lines.size()) continue;
      const std::string source = ValidUtf8(Trimmed(lines[line - 1]));
      if (!source.empty()) frames.text[row] = store.strings.Intern(source);
    }
  }
}

std::map<std::string, std::string> ReadSourceFiles(const Store& store) {
  std::map<std::string, std::string> files;
  for (const auto& [file, rows] : WantedFiles(store)) {
    const std::string path(store.Text(file));
    const Result<std::string> text = ReadUnchanged(store, path);
    if (text.ok()) files[path] = ValidUtf8(text.value());
  }
  return files;
}

}  // namespace batchlight
