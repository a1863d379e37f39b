// A folder held open. What is done in it happens in this folder, whatever somebody renames or links
// on the way to it meanwhile; a name is never followed where it is a symbolic link.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "base/status.h"

namespace batchlight {

class Folder {
 public:
  // Errors (kInput) name path and reason. "" is the present folder. With `follow` the path itself
  // may be a link.
  static Result<Folder> Open(const std::string& path, bool follow = true);
  // One that outputs go into. Its last part may be a link only of this user or root: one that
  // somebody else put there would move the outputs, over files of the same names.
  static Result<Folder> OpenForOutput(const std::string& path);
  // The folder that holds `path`.
  static Result<Folder> OpenParent(const std::string& path);
  Folder(Folder&& other) noexcept;
  Folder& operator=(Folder&& other) noexcept;
  ~Folder();

  int fd() const { return fd_; }
  const std::string& path() const { return path_; }
  // The same folder, called `path` in messages.
  Folder Named(std::string path) && {
    path_ = std::move(path);
    return std::move(*this);
  }
  // For calls that take a path only. Valid in this process while the folder is open.
  std::string DescriptorPath() const;

  // openat; the descriptor closes at exec. Neither a link nor a pipe that nobody feeds holds it up.
  // -1 with errno.
  int OpenFile(const std::string& name, int flags, mode_t mode = 0) const;
  // For reading, a file with no other name that belongs to this user or, with `or_roots`, to root.
  // -1 with errno, EPERM: it is something else.
  int OpenOwnFile(const std::string& name, bool or_roots) const;
  // Makes the file; it was not there before. The mode holds whatever the umask is.
  int MakePrivateFile(const std::string& name) const;
  bool Remove(const std::string& name) const;
  // `name` becomes `new_name` in `to`, in place of what is there. False with errno, as below.
  bool Move(const std::string& name, const Folder& to, const std::string& new_name) const;
  bool MakeFolder(const std::string& name, mode_t mode) const;  // less the umask
  bool RemoveFolder(const std::string& name) const;             // an empty one
  bool Has(const std::string& name) const;
  // Every name but "." and "..", sorted.
  std::vector<std::string> Names() const;
  // Of the folder itself.
  struct stat Info() const;
  bool IsOurs() const;       // belongs to this user
  bool IsOursAlone() const;  // and nobody else may write it
  // Until it is closed no other process gets the lock. False: one has it.
  bool Lock() const;
  // Whether `name` is a link that another user made, who is not root.
  bool IsLinkOfOthers(const std::string& name) const;
  // Whether `name` in this folder is `other`.
  bool Holds(const std::string& name, const Folder& other) const;

 private:
  Folder(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  int fd_ = -1;
  std::string path_;
};

// "a/b" -> "b"; the part after the last '/'.
std::string LastPartOf(const std::string& path);

// A new folder PREFIX<random> that only this user may enter; its path. Errors: kOutput.
Result<std::string> MakePrivateFolder(const std::string& prefix);

// Sixteen letters that nobody can guess, for names of files that are not finished.
std::string RandomLetters();
bool AreRandomLetters(const std::string& text);

}  // namespace batchlight
