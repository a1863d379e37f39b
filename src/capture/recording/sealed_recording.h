// A sealed recording, held open with the folder that it lies in. Whoever may write that folder can
// put another file under its name, so what comes after sealing (summary, exports) goes by this.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/folder.h"
#include "base/mapped_file.h"
#include "base/status.h"

namespace batchlight::capture {

class SealedRecording {
 public:
  // Takes the descriptor, which is open for reading and writing; -1: none was left for it.
  SealedRecording(std::string path, std::shared_ptr<const Folder> folder, int fd)
      : path_(std::move(path)), folder_(std::move(folder)), fd_(fd) {}
  // One that another process sealed, by what Identity() said there. Errors: those of
  // CheckIsNamed().
  static Result<std::shared_ptr<const SealedRecording>> Open(const std::string& path,
                                                             const std::string& identity);
  SealedRecording(const SealedRecording&) = delete;
  SealedRecording& operator=(const SealedRecording&) = delete;
  ~SealedRecording();

  const std::string& path() const { return path_; }
  const Folder& folder() const { return *folder_; }
  int fd() const { return fd_; }
  // The file system and number of its file, as one word.
  std::string Identity() const;
  // An error (kOutput) for the user if its name leads to another file, or nowhere, by now.
  Status CheckIsNamed() const;
  // Errors: kInput.
  Result<MappedFile> Map() const;

 private:
  std::string path_;
  std::shared_ptr<const Folder> folder_;
  int fd_;
};

using SealedRecordings = std::vector<std::shared_ptr<const SealedRecording>>;

}  // namespace batchlight::capture
