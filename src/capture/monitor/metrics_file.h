// The file of --metrics-file, which is replaced every second. Its folder is held: what takes the
// place of the folder's name meanwhile (a user's link, where root's tool watches) gets nothing.
#pragma once

#include <string>
#include <string_view>

#include "base/folder.h"
#include "base/status.h"

namespace batchlight::capture {

class MetricsFile {
 public:
  // Errors (kOutput): there is no such folder, or something under that name that is no file.
  static Result<MetricsFile> Open(const std::string& path);

  Status Write(std::string_view text) const;
  void Remove() const;

 private:
  MetricsFile(std::string path, Folder folder)
      : path_(std::move(path)), folder_(std::move(folder)) {}

  std::string path_;
  Folder folder_;
};

}  // namespace batchlight::capture
