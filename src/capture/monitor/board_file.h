// The step board that `profile --monitor` keeps in the live folder (format/step_board.h).
#pragma once

#include <sys/types.h>

#include "base/status.h"
#include "capture/recording/live_folder.h"
#include "format/step_board.h"

namespace batchlight::capture {

class BoardFile {
 public:
  // Makes it, reserved on the disk. Errors: kOutput.
  static Result<BoardFile> Create(const LiveFolder& live_folder);
  BoardFile(BoardFile&& other) noexcept;
  BoardFile& operator=(BoardFile&& other) = delete;
  ~BoardFile();

  format::StepBoard& board() { return *board_; }
  // Lets another user's program map it. False with errno.
  bool GiveTo(uid_t user, gid_t group) const;

 private:
  BoardFile() = default;
  format::StepBoard* board_ = nullptr;
  int fd_ = -1;
};

}  // namespace batchlight::capture
