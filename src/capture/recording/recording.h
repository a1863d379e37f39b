// One recording while it is made: the live folder, its control page, the tool's own log, and the
// captures (start/stop windows) of which each becomes a sealed file.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "capture/recording/control.h"
#include "capture/recording/live_folder.h"
#include "capture/recording/memory_room.h"
#include "capture/recording/options.h"
#include "capture/recording/seal.h"
#include "capture/recording/tool_log.h"

namespace batchlight::capture {

class Recording {
 public:
  // Makes the folder and puts the session's options and facts into it. `environment` is the
  // program's, `python_folder` as in Install.
  static Result<Recording> Create(const std::string& path, const SessionOptions& options,
                                  const std::vector<std::string>& environment,
                                  const std::string& python_folder);

  const LiveFolder& live_folder() const { return live_folder_; }
  Control& control() { return control_; }
  ToolLog& log() { return log_; }

  // Sets the trigger of the captures to come.
  // Before the program runs.
  void SetProgram(pid_t pid) { control_.page().program_pid = static_cast<uint32_t>(pid); }
  void SetTrigger(const CaptureOptions& options);
  // False if there was nothing to start or stop.
  bool StartCapture();
  bool StopCapture();
  // Ends the capture if processes found that their files may not grow further (disk_limits.h).
  // Returns why, once, for the user; "" otherwise.
  std::string StopIfFull();
  bool is_full() const { return is_full_; }
  // Whether the files take memory, so that FollowMemory() has to be called ten times a second.
  bool lies_in_memory() const { return memory_room_.in_memory(); }
  void FollowMemory() { memory_room_.Follow(); }
  // Another capture may try again.
  void AllowGrowth();
  // Records what processes could not say themselves: why their files did not grow.
  void NoteLosses();
  // Call when a process may have started or stopped a capture.
  void FollowProcesses();

  uint32_t captures_done() { return control_.page().captures_done.load(); }
  // How many captures to seal, each by itself, after the first `sealed` of them. An error where the
  // control page, which the program may write as it likes, says more than anybody makes.
  Result<uint32_t> CapturesAfter(uint32_t sealed);

 private:
  Recording(LiveFolder live_folder, Control control, ToolLog log, const DiskLimits& limits);
  void WriteFacts(const SessionOptions& options, const std::vector<std::string>& environment);

  LiveFolder live_folder_;
  Control control_;
  ToolLog log_;
  MemoryRoom memory_room_;
  bool is_full_ = false;
};

}  // namespace batchlight::capture
