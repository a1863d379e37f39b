#include "ingest/input_paths.h"

#include <fnmatch.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/file.h"
#include "base/folder.h"
#include "ingest/open_input.h"

namespace batchlight {
namespace {

constexpr std::string_view kRecordings[] = {".batchlight"};
constexpr std::string_view kLiveFolders[] = {".batchlight.live"};
constexpr std::string_view kNsysFiles[] = {".sqlite"};
constexpr std::string_view kKinetoFiles[] = {".json", ".json.gz"};

bool IsFolder(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

template <size_t kCount>
bool EndsWith(std::string_view name, const std::string_view (&endings)[kCount]) {
  return std::any_of(std::begin(endings), std::end(endings), [&](std::string_view ending) {
    return name.size() > ending.size() && name.ends_with(ending);
  });
}

// "node2" before "node10".
bool ComesBefore(const std::string& a, const std::string& b) {
  return strverscmp(a.c_str(), b.c_str()) < 0;
}

// Without links of others: who may write a folder of runs could have another recording of this
// user's read, and shown in what is made of the folder, by one. Nobody named that.
Result<std::vector<std::string>> NamesIn(const std::string& path) {
  ASSIGN_OR_RETURN(const Folder folder, Folder::Open(path));
  std::vector<std::string> names = folder.Names();
  std::erase_if(names, [&](const std::string& name) {
    return name.starts_with('.') || folder.IsLinkOfOthers(name);
  });
  std::sort(names.begin(), names.end(), ComesBefore);
  return names;
}

Result<std::vector<std::string>> RunsIn(const std::string& folder) {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, NamesIn(folder));
  const std::string before = folder.ends_with('/') ? folder : folder + "/";
  std::vector<std::string> runs;
  for (const std::string& name : names) {
    const bool sealed = EndsWith(name, kRecordings);
    const bool live =
        EndsWith(name, kLiveFolders) &&
        std::find(names.begin(), names.end(), name.substr(0, name.rfind('.'))) == names.end();
    if (sealed || live) runs.push_back(before + name);
  }
  const auto take = [&](InputFormat wanted, const auto& endings) {
    for (const std::string& name : names) {
      if (!EndsWith(name, endings)) continue;
      const auto format = DetectFormat(before + name);
      if (format.ok() && format.value() == wanted) runs.push_back(before + name);
    }
  };
  if (runs.empty()) take(InputFormat::kNsysSqlite, kNsysFiles);
  if (runs.empty()) take(InputFormat::kKinetoJson, kKinetoFiles);
  if (!runs.empty()) return runs;
  return InputError("there is no recording in " + folder +
                    ": give a file, or a folder of .batchlight, .sqlite or .json[.gz] files");
}

// The paths that `part`, a name or pattern, stands for within a folder.
// `named`: by words without a pattern, whose links whoever typed them means.
void AddMatches(const std::string& folder, const std::string& part, bool named,
                std::vector<std::string>& paths) {
  const std::string before = folder.empty() || folder.ends_with('/') ? folder : folder + "/";
  if (part.find_first_of("*?[") == std::string::npos) {
    if (!FileExists(before + part)) return;
    if (!named) {
      const auto held = Folder::Open(folder.empty() ? "." : folder);
      if (!held.ok() || held.value().IsLinkOfOthers(part)) return;
    }
    paths.push_back(before + part);
    return;
  }
  const auto names = NamesIn(folder.empty() ? "." : folder);
  if (!names.ok()) return;
  for (const std::string& name : names.value()) {
    if (fnmatch(part.c_str(), name.c_str(), FNM_PERIOD) == 0) paths.push_back(before + name);
  }
}

// glob(3) is not for a program that is linked statically: it asks the machine for users.
Result<std::vector<std::string>> Matches(const std::string& pattern) {
  std::vector<std::string> paths = {pattern.starts_with('/') ? "/" : ""};
  bool named = true;
  for (size_t begin = 0; begin < pattern.size();) {
    const size_t slash = std::min(pattern.find('/', begin), pattern.size());
    const std::string part = pattern.substr(begin, slash - begin);
    begin = slash + 1;
    if (part.empty()) continue;
    std::vector<std::string> longer;
    for (const std::string& path : paths) AddMatches(path, part, named, longer);
    paths = std::move(longer);
    named = named && part.find_first_of("*?[") == std::string::npos;
  }
  if (paths.empty()) return InputError("no file matches " + pattern);
  std::sort(paths.begin(), paths.end(), ComesBefore);
  return paths;
}

}  // namespace

bool IsFolderOfRuns(const std::string& path) {
  if (!IsFolder(path) || path.ends_with(".live") || path.ends_with(".live/")) return false;
  const auto names = NamesIn(path);
  return names.ok() &&
         std::none_of(names.value().begin(), names.value().end(), [](const std::string& name) {
           return name == "control" || name.ends_with(".blp");
         });
}

Result<std::vector<std::string>> FindInputs(const std::vector<std::string>& words) {
  std::vector<std::string> inputs;
  for (const std::string& word : words) {
    std::vector<std::string> paths = {word};
    const bool is_pattern = word.find_first_of("*?[") != std::string::npos;
    if (is_pattern && !FileExists(word) && !FileExists(word + ".live")) {
      ASSIGN_OR_RETURN(paths, Matches(word));
    }
    for (const std::string& path : paths) {
      if (!IsFolderOfRuns(path)) {
        inputs.push_back(path);
        continue;
      }
      ASSIGN_OR_RETURN(const std::vector<std::string> runs, RunsIn(path));
      inputs.insert(inputs.end(), runs.begin(), runs.end());
    }
  }
  return inputs;
}

}  // namespace batchlight
