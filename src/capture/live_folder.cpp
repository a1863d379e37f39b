#include "capture/live_folder.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>

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

}  // namespace

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
  if (!replace) {
    return OutputError(path + " is there already: it is being recorded now, or was left by a run " +
                       "whose tool was killed. `batchlight summary " + path +
                       "` opens it, `batchlight trace seal " + path +
                       "` makes a recording of it, -f records over it");
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
