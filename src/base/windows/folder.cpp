// Windows has no calls relative to an open folder: names are put behind its path. Who may exchange
// the folder meanwhile says its access list, which is the user's own where users keep their files.
#include "base/folder.h"

#include <direct.h>
#include <fcntl.h>
#include <io.h>
#include <unistd.h>
#include <windows.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/windows/last_error.h"

namespace batchlight {
namespace {

struct Handle {
  HANDLE handle = INVALID_HANDLE_VALUE;
  ~Handle() {
    if (handle != INVALID_HANDLE_VALUE) CloseHandle(handle);
  }
};

HANDLE OpenHandle(const std::string& path) {
  return CreateFileA(path.c_str(), FILE_LIST_DIRECTORY,
                     FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr, OPEN_EXISTING,
                     FILE_FLAG_BACKUP_SEMANTICS, nullptr);
}

}  // namespace

Result<Folder> Folder::Open(const std::string& path, bool) {
  const std::string place = path.empty() ? "." : path;
  // Not stat(): of a name that ends in a slash it finds nothing.
  const DWORD attributes = GetFileAttributesA(place.c_str());
  if (attributes == INVALID_FILE_ATTRIBUTES) {
    errno = ErrorOfWindows();
  } else if ((attributes & FILE_ATTRIBUTE_DIRECTORY) == 0) {
    errno = ENOTDIR;
  } else {
    const HANDLE handle = OpenHandle(place);
    if (handle != INVALID_HANDLE_VALUE) {
      return Folder(_open_osfhandle(reinterpret_cast<intptr_t>(handle), _O_RDONLY), path);
    }
    errno = ErrorOfWindows();
  }
  return InputError("cannot open folder " + path + ": " + std::strerror(errno));
}

Result<Folder> Folder::OpenForOutput(const std::string& path) {
  auto folder = Open(path);
  return folder.ok() ? std::move(folder) : OutputError(folder.status().message());
}

std::string Folder::DescriptorPath() const { return path_.empty() ? "." : path_; }

int Folder::OpenFile(const std::string& name, int flags, mode_t mode) const {
  return open((DescriptorPath() + "/" + name).c_str(), flags | O_CLOEXEC, mode);
}

// Links need a right there that few have.
int Folder::OpenOwnFile(const std::string& name, bool) const { return OpenFile(name, O_RDONLY); }

// New files have the access list of their folder.
int Folder::MakePrivateFile(const std::string& name) const {
  return OpenFile(name, O_RDWR | O_CREAT | O_EXCL, 0600);
}

bool Folder::Remove(const std::string& name) const {
  return unlink((DescriptorPath() + "/" + name).c_str()) == 0;
}

bool Folder::Move(const std::string& name, const Folder& to, const std::string& new_name) const {
  const std::string target = to.DescriptorPath() + "/" + new_name;
  RemoveDirectoryA(target.c_str());  // an empty folder gives way, nothing else is touched by this
  if (MoveFileExA((DescriptorPath() + "/" + name).c_str(), target.c_str(),
                  MOVEFILE_REPLACE_EXISTING)) {
    return true;
  }
  errno = ErrorOfWindows();
  return false;
}

bool Folder::MakeFolder(const std::string& name, mode_t) const {
  return _mkdir((DescriptorPath() + "/" + name).c_str()) == 0;
}

bool Folder::RemoveFolder(const std::string& name) const {
  return _rmdir((DescriptorPath() + "/" + name).c_str()) == 0;
}

bool Folder::Has(const std::string& name) const {
  return GetFileAttributesA((DescriptorPath() + "/" + name).c_str()) != INVALID_FILE_ATTRIBUTES;
}

std::vector<std::string> Folder::Names() const {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator it(DescriptorPath(), error), end; !error && it != end;
       it.increment(error)) {
    names.push_back(it->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

struct stat Folder::Info() const {
  struct stat info {};
  (void)stat(DescriptorPath().c_str(), &info);
  return info;
}

bool Folder::IsOurs() const { return true; }
bool Folder::IsOursAlone() const { return true; }
bool Folder::IsLinkOfOthers(const std::string&) const { return false; }

// Nobody removes a folder with files that are open.
bool Folder::Lock() const { return true; }

// Without the volume: `other` lay in this folder, and wine forgets the one of a moved folder.
bool Folder::Holds(const std::string& name, const Folder& other) const {
  const Handle here{OpenHandle(DescriptorPath() + "/" + name)};
  BY_HANDLE_FILE_INFORMATION a{};
  BY_HANDLE_FILE_INFORMATION b{};
  return here.handle != INVALID_HANDLE_VALUE && GetFileInformationByHandle(here.handle, &a) &&
         GetFileInformationByHandle(reinterpret_cast<HANDLE>(_get_osfhandle(other.fd_)), &b) &&
         a.nFileIndexHigh == b.nFileIndexHigh && a.nFileIndexLow == b.nFileIndexLow;
}

// In the user's own temporary folder nobody else may look.
Result<std::string> MakePrivateFolder(const std::string& prefix) {
  std::string path = prefix + RandomLetters();
  if (_mkdir(path.c_str()) == 0) return path;
  return OutputError("cannot make folder " + path + ": " + std::strerror(errno));
}

}  // namespace batchlight
