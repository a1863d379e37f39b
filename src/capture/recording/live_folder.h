// The live folder of a recording, NAME.batchlight.live/: made before the program starts, removed
// once it is sealed, left in place when that fails. It is its owner's alone, since whoever writes
// into it decides what code the recorded program loads; and it is held open, so that all that is
// done in it happens in this folder, wherever its name leads by then.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/folder.h"
#include "base/status.h"

namespace batchlight::capture {

inline constexpr char kLiveSuffix[] = ".batchlight.live";
inline constexpr char kRecordingSuffix[] = ".batchlight";
inline constexpr char kControlFile[] = "control";
inline constexpr char kToolFile[] = "tool.blp";
inline constexpr char kCpuFile[] = "cpu.blp";        // the tool's too: samples and switches
inline constexpr char kPythonFile[] = "python.blp";  // the tool's too: samples of Python code
inline constexpr char kNamesFile[] = "names.blp";    // the tool's too: functions of stacks
inline constexpr char kUsageFile[] = "usage.blp";    // the tool's too: what processes use up

class LiveFolder {
 public:
  // Makes the folder and locks it for as long as this object lives: of several tools that want it,
  // one gets it. With `replace`, an existing folder that nobody writes into makes way; without, it
  // is an error (kOutput) that says how to open it.
  static Result<LiveFolder> Create(const std::string& path, bool replace);
  // One that is there. Errors: kInput.
  static Result<LiveFolder> Open(const std::string& path);
  // The same of a folder that lies in `folder`; a link is none. Errors: kInput.
  static Result<LiveFolder> OpenIn(const Folder& folder, const std::string& name,
                                   const std::string& path);

  const std::string& path() const { return folder_.path(); }
  const Folder& folder() const { return folder_; }

  // Who still writes into it: "the batchlight that records it", "process 4711". Empty if nobody
  // does; then it is locked from here on.
  std::string FindWriter() const;
  // The name of another machine, or container, that may still write into it: one recorded into it,
  // and a file of it changed in the last ten minutes. Empty: none. What runs there cannot be looked
  // up here, and a lock may hold for one machine alone (NFS, Lustre, FUSE).
  std::string HostElsewhere() const;
  // Whether the process has a file of it mapped, as all have that write into it. False where it
  // keeps from us what it maps.
  bool IsMappedBy(pid_t pid) const;
  // Whether it looks like one.
  bool HoldsRecording() const;
  // Names of the process files, sorted.
  std::vector<std::string> ProcessFiles() const;
  // Process files that only another user can open: root's tool wrote them (--run-as).
  std::vector<std::string> FilesOfOthers() const;
  // Whether this user's tool recorded into it, though another user's program has it (--run-as).
  bool HoldsToolsFile() const;
  // A process file. Nothing: a file that no recorder made (a link, a pipe, somebody else's).
  Result<std::optional<MappedFile>> Map(const std::string& name) const;
  // Gives back the disk space beyond the ends of the process files, which they hold for sealing
  // (inject/buffer/chunk_file.cpp). Only when nobody writes into them any more.
  void GiveBackRoom() const;

  // Makes it another user's, who records into it (--run-as). False with errno.
  bool GiveTo(uid_t user, gid_t group) const;
  // Removes it and what a recorder put into it, by names and content. Other files, and then the
  // folder, stay. Where files that are open keep a name until they are closed (NFS, FUSE) the
  // folder goes with this object.
  Status Remove() const;
  LiveFolder(LiveFolder&& other) noexcept;
  LiveFolder& operator=(LiveFolder&& other) = delete;
  ~LiveFolder();

 private:
  LiveFolder(Folder parent, Folder folder)
      : parent_(std::move(parent)), folder_(std::move(folder)) {}
  // A descriptor of a file that the recorder made, else -1 with errno.
  int OpenProcessFile(const std::string& name, int flags) const;
  enum class Lock { kTaken, kBusy };
  Lock TakeLock(bool wait) const;
  bool ChangedLately() const;
  bool HoldsOnlyOpenFiles() const;
  std::string RealPath() const;
  bool IsStillThere() const { return parent_.Holds(LastPartOf(path()), folder_); }
  // What keeps an existing folder from being recorded into; nothing if it may be replaced.
  bool MoveAside(const std::string& name) const;
  Status CheckReplaceable(bool replace) const;

  Folder parent_;
  Folder folder_;
  mutable bool goes_at_end_ = false;
};

}  // namespace batchlight::capture
