#include "base/partial_folder.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
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

// In each folder while it is filled. Its name alone does not tell that it is ours to remove:
// whoever may write the folder around it can give that name to a folder full of somebody else's
// work, but can put nothing into it, unless it is a folder that others may write (IsMarked).
constexpr char kMark[] = ".batchlight-unfinished";

// Whether the mark is one that nobody but this user can have put there.
bool IsMarked(const Folder& folder) {
  const int mark = folder.IsOursAlone() ? folder.OpenOwnFile(kMark, false) : -1;
  if (mark >= 0) close(mark);
  return mark >= 0;
}

// Whether a killed process left it; then it is locked from here on. An empty one loses nothing.
bool IsLeft(const Folder& folder) {
  return folder.IsOurs() && (IsMarked(folder) || folder.Names().empty()) && folder.Lock();
}

// While it is filled nobody else may put anything into it: it would get its place, and over what is
// there, with our own files. Without effect where the file system keeps no modes.
void SetMode(const Folder& folder, mode_t mode) {
  std::error_code ignored;
  std::filesystem::permissions(folder.DescriptorPath(), static_cast<std::filesystem::perms>(mode),
                               ignored);
}

constexpr mode_t kAllBits = 07777, kOthers = 077;

// The mark last: if we are killed meanwhile the rest can still be removed.
void RemoveFilesOf(const Folder& folder) {
  for (const std::string& file : folder.Names()) {
    if (file != kMark) folder.Remove(file);
  }
  folder.Remove(kMark);
}

Status Exchanged(const std::string& folder) {
  return OutputError("cannot make folder " + folder +
                     ": somebody moved it while it was being filled; choose a place that nobody "
                     "else may write");
}

}  // namespace

Result<PartialFolder> PartialFolder::Create(const std::string& folder, mode_t mode,
                                            const Folder* into) {
  auto parent = into == nullptr ? Folder::OpenParent(folder) : Folder::Open(into->DescriptorPath());
  const std::string name = LastPartOf(folder) + kPartialInfix + RandomLetters();
  if (!parent.ok() || !parent->MakeFolder(name, mode)) {
    return OutputError("cannot make folder " + folder + ": " + std::strerror(errno) +
                       "; choose another place or create the folder around it first");
  }
  auto held = OpenInside(parent.value(), name);
  const mode_t mode_at_end = held ? held->Info().st_mode & kAllBits : 0;
  if (held) SetMode(*held, mode_at_end & ~kOthers);
  // Another folder of this user may have been moved to the name, with files that we would replace.
  if (!held || !held->IsOurs() || !held->Names().empty()) {
    if (held) SetMode(*held, mode_at_end);
    return Exchanged(folder);
  }
  held->Lock();  // LeftPartialFolders() sees by it that we live
  const int mark = held->MakePrivateFile(kMark);
  if (mark < 0) {
    const int error = errno;
    if (parent->Holds(name, *held)) parent->RemoveFolder(name);
    return OutputError("cannot write into folder " + folder + ": " + std::strerror(error));
  }
  close(mark);
  return PartialFolder(folder, std::move(parent).value(), name, *std::move(held), mode_at_end);
}

PartialFolder::~PartialFolder() {
  if (name_.empty() || held_.fd() < 0) return;
  RemoveFilesOf(held_);
  // Removes nothing but an empty folder, whoever exchanges it before this line.
  if (parent_.Holds(name_, held_)) parent_.RemoveFolder(name_);
}

std::vector<std::string> PartialFolder::Names() const {
  std::vector<std::string> names = held_.Names();
  std::erase(names, kMark);
  return names;
}

Status PartialFolder::Rename() {
  const std::string final = LastPartOf(folder_);
  if (!parent_.Holds(name_, held_)) return Exchanged(folder_);
  held_.Remove(kMark);
  SetMode(held_, mode_);
  if (!parent_.Move(name_, parent_, final)) {
    return OutputError("cannot make folder " + folder_ + ": " + std::strerror(errno));
  }
  if (!parent_.Holds(final, held_)) return Exchanged(folder_);
  name_.clear();
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
    if (inside && IsLeft(*inside)) left.push_back(name);
  }
  return left;
}

bool RemovePartialFolder(const Folder& folder, const std::string& name) {
  const auto inside = OpenInside(folder, name);
  if (!inside) return false;
  // It may be another one than LeftPartialFolders() found.
  if (!IsLeft(*inside)) {
    errno = EPERM;
    return false;
  }
  RemoveFilesOf(*inside);
  // Removes nothing but an empty folder, whoever exchanges it before this line.
  return folder.RemoveFolder(name);
}

}  // namespace batchlight
