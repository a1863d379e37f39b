// The folder of a job, DIR of `profile --monitor DIR` and `start --run DIR`, which all tools of the
// job share; a slow network file system will do. Nobody waits for anybody: files are replaced by
// rename, and each tool looks once a second.
//
//   window                the steps to record next: "first=1050", "count=11", "realtime_ns=..."
//                         (when that was asked for), a line each
//   status.<host>.<pid>   of each tool, once a second: "step=1000", "step_ns=...",
//                         "realtime_ns=...", "start_ns=..." (when it was written, and the tool
//                         began; CLOCK_REALTIME)
#pragma once

#include <optional>
#include <string>

#include "base/folder.h"
#include "base/status.h"
#include "format/step_board.h"

namespace batchlight::capture {

// Where a tool's job is.
struct RunStatus {
  uint64_t step = 0;        // the last that has ended, of the process that is furthest; from 1
  int64_t step_ns = 0;      // the median of that process's last steps; 0 = unknown
  int64_t realtime_ns = 0;  // of this status, CLOCK_REALTIME
  int64_t start_ns = 0;     // of the tool, CLOCK_REALTIME
};

class RunFolder {
 public:
  // Makes the folder if it is missing. Errors (kOutput): it is a link of another user, for one.
  static Result<RunFolder> Make(const std::string& path);
  // Errors: kInput.
  static Result<RunFolder> Open(const std::string& path);

  const std::string& path() const { return path_; }
  Status WriteStatus(const RunStatus& status) const;
  void RemoveStatus() const;
  // Of the tool that is furthest, among those that wrote within 30 s of `now_ns`.
  std::optional<RunStatus> FurthestStatus(int64_t now_ns) const;

  Status WriteRequest(format::StepRequest request, int64_t realtime_ns) const;
  // Count 0: there is none, what is there is none, or it is older than `since_ns`: of a job that
  // was in this folder before.
  format::StepRequest ReadRequest(int64_t since_ns) const;

 private:
  RunFolder(std::string path, Folder folder);
  // Through the held folder: what takes the place of its name meanwhile (a user's link, where
  // root's tool watches) gets nothing.
  std::string PathOf(const std::string& name) const;

  std::string path_;
  Folder folder_;
  std::string status_name_;
};

}  // namespace batchlight::capture
