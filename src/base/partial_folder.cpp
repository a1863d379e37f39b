#include "base/partial_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <utility>

#include "base/file.h"

namespace batchlight {
namespace {

// The folder of that name, unless it is a link or something else.
std::optional<Folder> OpenInside(const Folder& folder, const std::string& name) {
  auto inside = Folder::Open(folder.DescriptorPath() + "/" + name, false);
  if (!inside.ok()) return std::nullopt;
  return std::move(inside).value();
}

}  // namespace

Result<PartialFolder> PartialFolder::Create(const std::string& folder) {
  std::string path = folder + kPartialInfix + RandomLetters();
  if (mkdir(path.c_str(), 0777) != 0) {
    return OutputError("cannot make folder " + folder + ": " + std::strerror(errno) +
                       "; choose another place or create the folder around it first");
  }
  auto lock = Folder::Open(path, false);
  if (!lock.ok()) return OutputError(lock.status().message());
  flock(lock->fd(), LOCK_EX | LOCK_NB);  // LeftPartialFolders() sees by it that we live
  return PartialFolder(folder, std::move(path), std::move(lock).value());
}

PartialFolder::~PartialFolder() {
  if (path_.empty() || lock_.fd() < 0) return;
  const auto parent = Folder::OpenParent(path_);
  if (parent.ok()) RemovePartialFolder(parent.value(), LastPartOf(path_));
}

Status PartialFolder::Rename() {
  if (std::rename(path_.c_str(), folder_.c_str()) != 0) {
    return OutputError("cannot make folder " + folder_ + ": " + std::strerror(errno));
  }
  path_.clear();
  return {};
}

std::vector<std::string> LeftPartialFolders(const Folder& folder) {
  std::vector<std::string> left;
  for (const std::string& name : folder.Names()) {
    const size_t infix = name.rfind(kPartialInfix);
    if (infix == std::string::npos ||
        !AreRandomLetters(name.substr(infix + std::strlen(kPartialInfix)))) {
      continue;
    }
    const auto inside = OpenInside(folder, name);
    if (!inside || inside->Info().st_uid != geteuid()) continue;
    // Whoever fills it holds the lock.
    if (flock(inside->fd(), LOCK_EX | LOCK_NB) == 0) left.push_back(name);
  }
  return left;
}

bool RemovePartialFolder(const Folder& folder, const std::string& name) {
  const auto inside = OpenInside(folder, name);
  if (!inside) return false;
  for (const std::string& file : inside->Names()) inside->Remove(file);
  return unlinkat(folder.fd(), name.c_str(), AT_REMOVEDIR) == 0;
}

}  // namespace batchlight
