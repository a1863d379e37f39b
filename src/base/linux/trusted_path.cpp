#include "base/trusted_path.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

namespace batchlight {
namespace {

bool OthersWrite(const struct stat& info) { return (info.st_mode & (S_IWGRP | S_IWOTH)) != 0; }

std::string Above(const std::string& path) {
  return path.substr(0, std::max<size_t>(1, path.rfind('/')));
}

// A container that has no number for root shows one and the same for all whom it does not know:
// what that owns is root's where nobody else makes anything.
bool IsOfWhoOwnsAll(const std::string& path, uid_t owner) {
  struct stat root {};
  struct stat above {};
  return stat("/", &root) == 0 && owner == root.st_uid && stat(Above(path).c_str(), &above) == 0 &&
         !OthersWrite(above);
}

std::string WhyNotAlone(const std::string& path, bool is_on_the_way) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return path + ": " + std::strerror(errno);
  const bool is_trusted = info.st_uid == 0 || info.st_uid == geteuid() ||
                          (is_on_the_way && IsOfWhoOwnsAll(path, info.st_uid));
  if (!is_trusted) return path + " belongs to another user";
  const bool is_sticky = is_on_the_way && (info.st_mode & S_ISVTX) != 0;
  return OthersWrite(info) && !is_sticky ? path + " can be written by other users" : "";
}

bool Grants(const struct stat& info, uid_t user, mode_t to_owner, mode_t to_others) {
  if (user == 0) return true;
  return (info.st_mode & (info.st_uid == user ? to_owner : to_others)) != 0;
}

using HeapText = std::unique_ptr<char, decltype(&std::free)>;

HeapText RealPath(const std::string& path) { return {realpath(path.c_str(), nullptr), &std::free}; }

// Of what is made in the folder `place`, which has no link in its path.
std::string WhyNotTrustedIn(std::string place) {
  std::string why = WhyNotAlone(place, true);
  while (why.empty() && place.size() > 1) {
    place = Above(place);
    why = WhyNotAlone(place, true);
  }
  return why;
}

// A folder that is gone through only, which needs no right to list it. -1: there is none.
int OpenOnTheWay(int folder, const char* name) {
  return openat(folder, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

}  // namespace

std::string WhyNotTrusted(const std::string& path) {
  const HeapText real = RealPath(path);
  if (real == nullptr) return path + ": " + std::strerror(errno);
  const std::string why = WhyNotAlone(real.get(), false);
  return why.empty() ? WhyNotTrustedIn(Above(real.get())) : why;
}

Result<std::string> FirstTrustedPlace(const std::vector<std::string>& places) {
  std::string reasons;
  for (const std::string& place : places) {
    if (place.empty()) continue;
    const HeapText real = RealPath(place);
    std::string why =
        real == nullptr ? place + ": " + std::strerror(errno) : WhyNotTrustedIn(real.get());
    if (why.empty() && access(real.get(), W_OK | X_OK) == 0) return std::string(real.get());
    if (why.empty()) why = place + ": " + std::strerror(errno);
    reasons += (reasons.empty() ? "" : "; ") + why;
  }
  return OutputError(reasons);
}

std::vector<std::string> TemporaryPlaces() {
  const char* const set = std::getenv("TMPDIR");
  return {set != nullptr ? set : "", "/tmp"};
}

Result<TemporaryPlace> FindTemporaryPlace(const std::vector<std::string>& places) {
  auto trusted = FirstTrustedPlace(places);
  if (trusted.ok()) return TemporaryPlace{std::move(trusted).value(), ""};
  for (const std::string& place : places) {
    const HeapText real = RealPath(place);
    if (real == nullptr || access(real.get(), W_OK | X_OK) != 0) continue;
    return TemporaryPlace{real.get(), WhyNotTrustedIn(real.get())};
  }
  return OutputError("no folder for temporary files: " + trusted.status().message() +
                     "; set TMPDIR to a folder that you alone can write");
}

// Upwards by `..`, not by names, which may be exchanged meanwhile.
bool IsReadableTo(uid_t user, int file, const Folder& folder) {
  struct stat info {};
  if (fstat(file, &info) != 0 || !Grants(info, user, S_IRUSR, S_IROTH)) return false;
  int at = OpenOnTheWay(folder.fd(), ".");
  bool is_open = at >= 0 && fstat(at, &info) == 0;
  for (bool is_root = false; is_open && !is_root;) {
    is_open = Grants(info, user, S_IXUSR, S_IXOTH);
    const int above = OpenOnTheWay(at, "..");
    close(at);
    at = above;
    struct stat info_above {};
    is_open = is_open && above >= 0 && fstat(above, &info_above) == 0;
    is_root = info.st_dev == info_above.st_dev && info.st_ino == info_above.st_ino;
    info = info_above;
  }
  if (at >= 0) close(at);
  return is_open;
}

}  // namespace batchlight
