// A sealed recording, with the folder that it lies in held open. Whoever may write that folder can
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
  SealedRecording(std::string path, std::shared_ptr<const Folder> folder, int fd);
  // One that another process sealed, by what Identity() said there; not open yet.
  SealedRecording(std::string path, std::shared_ptr<const Folder> folder, std::string identity)
      : path_(std::move(path)), folder_(std::move(folder)), identity_(std::move(identity)) {}
  SealedRecording(const SealedRecording&) = delete;
  SealedRecording& operator=(const SealedRecording&) = delete;
  ~SealedRecording() { LetGo(); }

  const std::string& path() const { return path_; }
  const Folder& folder() const { return *folder_; }
  int fd() const { return fd_; }
  // The file system, number and birth of its file, as one word. Empty: it was never open.
  const std::string& Identity() const { return identity_; }
  // Opens it if it is not. Errors: those of CheckIsNamed(), kInput.
  Status Hold();
  // Until Hold(): a run can have more captures than the tool may have descriptors.
  void LetGo();
  // An error (kOutput) for the user if its name leads to another file, or nowhere, by now.
  Status CheckIsNamed() const;
  // What is held. Errors: kInput.
  Result<MappedFile> Map() const;

 private:
  std::string path_;
  std::shared_ptr<const Folder> folder_;
  std::string identity_;
  int fd_ = -1;
};

using SealedRecordings = std::vector<std::shared_ptr<SealedRecording>>;

}  // namespace batchlight::capture
