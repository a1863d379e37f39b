#include "ingest/recording/source_lines.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/folder.h"
#include "base/json_text.h"
#include "base/mapped_file.h"
#include "base/trusted_path.h"

namespace batchlight {
namespace {

constexpr uintmax_t kMostFileBytes = 4 << 20;
// Of all files together. One that is there can be named a million times, through `./` and links.
constexpr uintmax_t kMostBytes = 64 << 20;
constexpr uintmax_t kLeastFileBytes = 4096;  // a small one counts as
constexpr size_t kMostLineBytes = 200;

constexpr std::string_view kPython[] = {".py"};
constexpr std::string_view kKernels[] = {".py", ".cu", ".cuh", ".h", ".hpp", ".inl"};

std::function<SourceRights()> g_take_rights;

// Of all recordings whose lines were read here; several may be read at once.
std::mutex g_owners_mutex;
std::set<uint32_t> g_owners;

std::set<uint32_t> AllOwners() {
  const std::lock_guard lock(g_owners_mutex);
  return g_owners;
}

bool IsWanted(std::string_view path) {
  return path.starts_with('/') && path.ends_with(".py") && path.find("-packages/") == path.npos;
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

// What of the program a line that torch.compile generated is for, as Inductor writes above it:
// "# Topologically Sorted Source Nodes: [y, z], Original ATen: [aten.mm]". Of a launch of Triton a
// line that asks for the stream lies between.
std::string_view RemarkAbove(const std::vector<std::string_view>& lines, size_t place) {
  constexpr std::string_view kRemark = "# Topologically Sorted Source Nodes: ";
  while (place > 0 && Trimmed(lines[place - 1]).starts_with("stream")) --place;
  const std::string_view above = place > 0 ? Trimmed(lines[place - 1]) : std::string_view();
  return above.starts_with(kRemark) ? above.substr(kRemark.size()) : std::string_view();
}

// Of a line by its number, from 1; "": there is none.
std::string SourceOf(const std::vector<std::string_view>& lines, uint32_t number) {
  if (number == 0 || number > lines.size()) return "";
  const size_t place = number - 1;
  std::string source = ValidUtf8(Trimmed(lines[place]));
  const std::string_view remark = RemarkAbove(lines, place);
  if (!source.empty() && !remark.empty()) source += "  # " + ValidUtf8(remark);
  return source;
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

// Reads files as they were at the end of the run.
class SourceReader {
 public:
  SourceReader(const Store& store, std::span<const std::string_view> extensions,
               std::set<uint32_t> owners)
      : end_ns_(store.session_start_utc_ns + store.duration_ns),
        extensions_(extensions),
        owners_(std::move(owners)) {}

  // Nothing where one cannot be read, was changed since, has another extension behind a link, or
  // was named by somebody who could not read it.
  std::optional<std::string> Read(const std::string& path) {
    namespace fs = std::filesystem;
    const SourceRights rights = g_take_rights ? g_take_rights() : nullptr;
    std::error_code error;
    const fs::directory_entry file(fs::canonical(path, error), error);
    if (error || !IsSource(file.path()) || !file.is_regular_file(error)) return {};
    const uintmax_t bytes = file.file_size(error);
    if (error || bytes > std::min(kMostFileBytes, bytes_left_)) return {};
    const auto changed = std::chrono::file_clock::to_sys(file.last_write_time(error));
    const auto since_epoch =
        std::chrono::duration_cast<std::chrono::nanoseconds>(changed.time_since_epoch());
    if (error || since_epoch.count() > end_ns_) return {};
    bytes_left_ -= std::min(bytes_left_, std::max(bytes, kLeastFileBytes));
    // Not through a link that somebody put there meanwhile.
    const std::string real = file.path().generic_string();
    const auto folder = Folder::OpenParent(real);
    const int fd = folder.ok() ? folder->OpenFile(LastPartOf(real), O_RDONLY) : -1;
    if (fd < 0) return {};
    const bool may_be = rights != nullptr || MayBeRead(fd, folder.value());
    const auto text = MappedFile::FromDescriptor(fd, real);
    return may_be && text.ok() ? std::optional(std::string(text->text())) : std::nullopt;
  }

 private:
  bool MayBeRead(int fd, const Folder& folder) const {
    return std::all_of(owners_.begin(), owners_.end(), [&](uint32_t owner) {
      return owner == geteuid() || IsReadableTo(owner, fd, folder);
    });
  }

  bool IsSource(const std::filesystem::path& path) const {
    const std::string extension = path.extension().string();
    return std::find(extensions_.begin(), extensions_.end(), extension) != extensions_.end();
  }

  const int64_t end_ns_;
  const std::span<const std::string_view> extensions_;
  const std::set<uint32_t> owners_;
  uintmax_t bytes_left_ = kMostBytes;
};

}  // namespace

void ReadSourcesWith(std::function<SourceRights()> take) { g_take_rights = std::move(take); }

void ReadSourceLines(Store& store, const std::set<uint32_t>& owners) {
  {
    const std::lock_guard lock(g_owners_mutex);
    g_owners.insert(owners.begin(), owners.end());
  }
  PythonFramesTable& frames = store.python_frames;
  SourceReader reader(store, kPython, owners);
  for (const auto& [file, rows] : WantedFiles(store)) {
    const std::optional<std::string> text = reader.Read(std::string(store.Text(file)));
    if (!text) continue;
    const std::vector<std::string_view> lines = LinesOf(*text);
    for (const uint32_t row : rows) {
      const std::string source = SourceOf(lines, frames.line[row]);
      if (!source.empty()) frames.text[row] = store.strings.Intern(source);
    }
  }
}

std::map<std::string, std::string> ReadSourceFiles(const Store& store) {
  std::map<std::string, std::string> files;
  SourceReader reader(store, kPython, AllOwners());
  for (const auto& [file, rows] : WantedFiles(store)) {
    const std::string path(store.Text(file));
    const std::optional<std::string> text = reader.Read(path);
    if (text) files[path] = ValidUtf8(*text);
  }
  return files;
}

void ReadKernelSources(const Store& store, StallSamples& samples) {
  std::map<uint32_t, std::map<uint32_t, std::vector<StallSample*>>> by_file;  // and line
  for (StallSample& sample : samples.samples) {
    if (sample.line != 0 && samples.names[sample.file].starts_with('/')) {
      by_file[sample.file][sample.line].push_back(&sample);
    }
  }
  SourceReader reader(store, kKernels, samples.owners);
  for (const auto& [file, by_line] : by_file) {
    const std::optional<std::string> text = reader.Read(samples.names[file]);
    if (!text) continue;
    const std::vector<std::string_view> lines = LinesOf(*text);
    for (const auto& [line, wanted] : by_line) {
      const std::string source = SourceOf(lines, line);
      if (source.empty()) continue;
      const auto name = static_cast<uint32_t>(samples.names.size());
      samples.names.push_back(source);
      for (StallSample* const sample : wanted) sample->source = name;
    }
  }
}

}  // namespace batchlight
