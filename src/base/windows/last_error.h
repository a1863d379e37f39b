// GetLastError() as errno, for messages that name a reason.
#pragma once

#include <windows.h>

#include <cerrno>

namespace batchlight {

inline int ErrorOfWindows() {
  switch (GetLastError()) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_INVALID_NAME:  // such as one with '*'
      return ENOENT;
    case ERROR_FILE_EXISTS:
    case ERROR_ALREADY_EXISTS:
      return EEXIST;
    case ERROR_DISK_FULL:
    case ERROR_HANDLE_DISK_FULL:
      return ENOSPC;
    case ERROR_BAD_EXE_FORMAT:
      return ENOEXEC;
    case ERROR_SHARING_VIOLATION:  // open in another program
      return EBUSY;
    case ERROR_DIRECTORY:
      return ENOTDIR;
    case ERROR_DIR_NOT_EMPTY:
      return ENOTEMPTY;
    default:
      return EACCES;
  }
}

}  // namespace batchlight
