#include "base/partial_file.h"

#include <io.h>
#include <stdlib.h>
#include <unistd.h>
#include <windows.h>

#include <cerrno>

#include "base/windows/last_error.h"

namespace batchlight {
namespace {

constexpr int kUnreadExitCode = 128 + 13;  // what a Unix shell makes of SIGPIPE

}  // namespace

// Windows removes and renames no file that a process has open (without sharing that, as none of
// ours does): being open is the lock.
bool IsLeftBehind(const Folder& folder, const std::string& name) {
  const HANDLE file =
      CreateFileA((folder.DescriptorPath() + "/" + name).c_str(), GENERIC_READ | DELETE, 0, nullptr,
                  OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, nullptr);
  if (file == INVALID_HANDLE_VALUE) return false;
  CloseHandle(file);
  return true;
}

void RemoveIfLeftBehind(const Folder& folder, const std::string& name) {
  if (IsLeftBehind(folder, name)) folder.Remove(name);
}

bool MarkAsWritten(int, const Folder&, const std::string&) { return true; }

bool FinishPartial(int fd, const Folder& folder, const std::string& partial_name,
                   const std::string& final_name, const NewFile& how) {
  if (close(fd) != 0) return false;
  if (how.replace) return folder.Move(partial_name, folder, final_name);
  const std::string place = folder.DescriptorPath() + "/";
  if (MoveFileExA((place + partial_name).c_str(), (place + final_name).c_str(), 0)) return true;
  errno = ErrorOfWindows();
  return false;
}

void DropPartial(int fd, const Folder& folder, const std::string& partial_name) {
  close(fd);
  folder.Remove(partial_name);
}

int SecondStandardOutput() { return _dup(STDOUT_FILENO); }

// The C library has no errno for most of these and says EINVAL.
void EndIfUnread() {
  switch (_doserrno) {
    case ERROR_BROKEN_PIPE:
    case ERROR_NO_DATA:
    case ERROR_PIPE_NOT_CONNECTED:
      _exit(kUnreadExitCode);
  }
}

void MakeSizeLimitAnError() {}  // there is none

}  // namespace batchlight
