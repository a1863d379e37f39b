#include "capture/recording/live_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string_view>

#include "base/printable_text.h"

namespace batchlight::capture {
namespace {

Result<std::vector<std::string>> ListNames(const std::string& folder) {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir(folder.c_str()), closedir);
  if (directory == nullptr) {
    return InputError("cannot open " + folder + ": " + std::strerror(errno));
  }
  std::vector<std::string> names;
  while (const dirent* entry = readdir(directory.get())) names.emplace_back(entry->d_name);
  return names;
}

// Whether the process has one of the folder's files mapped.
bool MapsFolder(long pid, const std::string& folder) {
  std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find(folder + "/") != std::string::npos) return true;
  }
  return false;
}

}  // namespace

std::string FindWriter(const std::string& path) {
  const int control = open((path + "/control").c_str(), O_RDWR | O_CLOEXEC);
  const bool locked = control >= 0 && flock(control, LOCK_EX | LOCK_NB) != 0;
  if (control >= 0) close(control);
  if (locked) return "the batchlight that records it";
  char* resolved = realpath(path.c_str(), nullptr);
  const std::string folder = resolved != nullptr ? resolved : path;
  free(resolved);
  const auto names = ListNames(path);
  if (!names.ok()) return {};
  for (const std::string& name : names.value()) {
    const long pid = name.ends_with(".blp") ? std::strtol(name.c_str(), nullptr, 10) : 0;
    if (pid > 0 && MapsFolder(pid, folder)) return "process " + std::to_string(pid);
  }
  return {};
}

Status CreateLiveFolder(const std::string& path, bool replace) {
  if (mkdir(path.c_str(), 0777) == 0) return {};
  if (errno != EEXIST) {
    const int reason = errno;
    const size_t slash = path.rfind('/');
    const std::string parent = slash == std::string::npos ? "." : path.substr(0, slash + 1);
    return OutputError("cannot record into folder " + parent + ": " + std::strerror(reason) +
                       (reason == ENOENT ? "; create it first or choose another with -o"
                                         : "; choose another with -o"));
  }
  if (const std::string writer = FindWriter(path); !writer.empty()) {
    return OutputError(path + " is in use by " + writer + "; choose another name with -o");
  }
  if (!replace) {
    return OutputError(path + " exists already, left by a run whose tool was killed. " +
                       "`batchlight summary " + ShellPath(path) +
                       "` opens it, `batchlight trace seal " + ShellPath(path) +
                       "` turns it into a recording, -f overwrites it");
  }
  RETURN_IF_ERROR(RemoveLiveFolder(path));
  if (mkdir(path.c_str(), 0777) != 0) {
    return OutputError("cannot replace " + path + ": " + std::strerror(errno));
  }
  return {};
}

Status RemoveLiveFolder(const std::string& path) {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, ListNames(path));
  for (const std::string_view name : names) {
    if (name == "control" || name.ends_with(".blp")) {
      unlink((path + "/" + std::string(name)).c_str());
    }
  }
  if (rmdir(path.c_str()) != 0) {
    return OutputError("cannot remove " + path + ": " + std::strerror(errno));
  }
  return {};
}

Result<std::vector<std::string>> ListProcessFiles(const std::string& live_folder) {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, ListNames(live_folder));
  std::vector<std::string> paths;
  for (const std::string& name : names) {
    if (name.ends_with(".blp")) paths.push_back(live_folder + "/" + name);
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace batchlight::capture
