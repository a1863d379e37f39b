// A folder of this user alone for a while, where nobody else can exchange it if there is such a
// place (FindTemporaryPlace()). The destructor removes the files in it and the folder, by its
// descriptor: what has been put under its name meanwhile stays.
#pragma once

#include <string>

#include "base/folder.h"
#include "base/status.h"

namespace batchlight::cli {

// The path of that place. The first time that others could exchange what is made there, a line says
// so. Errors: kOutput.
Result<std::string> PlaceForAWhile();

class TemporaryFolder {
 public:
  // Errors (kOutput) name path and reason, and TMPDIR.
  static Result<TemporaryFolder> Make(const std::string& prefix);
  TemporaryFolder(TemporaryFolder&& other) noexcept = default;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();

  const std::string& path() const { return held_.path(); }
  // Another user who knows a name in it may reach that. False with errno.
  bool LetOthersThrough() const;

 private:
  TemporaryFolder(Folder parent, Folder held)
      : parent_(std::move(parent)), held_(std::move(held)) {}
  Folder parent_;
  Folder held_;
};

}  // namespace batchlight::cli
