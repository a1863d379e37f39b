#include "capture/monitor/metrics_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/file.h"

namespace batchlight::capture {

Result<MetricsFile> MetricsFile::Open(const std::string& path) {
  const std::string name = LastPartOf(path);
  const std::string parent = path.substr(0, path.size() - name.size());
  auto folder = Folder::OpenForOutput(parent.empty() ? "." : parent);
  if (!folder.ok()) return OutputError("--metrics-file: " + folder.status().message());
  struct stat info {};
  const bool is_there = fstatat(folder->fd(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0;
  // A device or a pipe would be replaced, and be gone at the end.
  if (name.empty() || (is_there && !S_ISREG(info.st_mode) && !S_ISLNK(info.st_mode))) {
    return OutputError("--metrics-file: " + path + " is no file; name one that may be replaced");
  }
  return MetricsFile(path, std::move(folder).value());
}

Status MetricsFile::Write(std::string_view text) const {
  return WriteWholeFile(path_, text, {.folder = &folder_});
}

void MetricsFile::Remove() const { folder_.Remove(LastPartOf(path_)); }

}  // namespace batchlight::capture
