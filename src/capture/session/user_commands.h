// --after-collection-start and --after-report-ready: commands of the user that the tool runs beside
// the program. They run in a shell, in the tool's folder, and write to its stderr.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <functional>
#include <map>
#include <string>

namespace batchlight::capture {

class UserCommands {
 public:
  using Notice = std::function<void(const std::string&)>;
  // `notice` hears of a command that cannot be run or fails. `mask`: signals blocked in commands.
  UserCommands(std::string session_name, Notice notice, sigset_t mask)
      : session_name_(std::move(session_name)), notice_(std::move(notice)), mask_(mask) {}

  // Starts `command` for flag `--after-...`, named by `callback`, and does not wait. In its
  // environment NSYS_SESSION_NAME, NSYS_CALLBACK_NAME and NSYS_REPORT_PATH say what for.
  void Start(const std::string& callback, const std::string& command, const std::string& report);
  // True if `pid` was one of these commands; says so if it failed.
  bool NoteEnd(pid_t pid, int wait_status);
  // Waits for those of `callback`.
  void WaitFor(const std::string& callback);

 private:
  std::string session_name_;
  Notice notice_;
  sigset_t mask_;
  // The program may write any number of captures into the control page, again and again.
  static constexpr size_t kMostAtOnce = 100;

  std::map<pid_t, std::string> running_;  // by pid: callback
  bool said_too_many_ = false;
};

inline constexpr char kAfterCollectionStart[] = "after-collection-start";
inline constexpr char kAfterReportReady[] = "after-report-ready";

}  // namespace batchlight::capture
