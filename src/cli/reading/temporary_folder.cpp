#include "cli/reading/temporary_folder.h"

#include <filesystem>
#include <system_error>

namespace batchlight::cli {
namespace {

constexpr char kAdvice[] = "; set TMPDIR to a folder of yours that can be written";

}  // namespace

Result<TemporaryFolder> TemporaryFolder::Make(const std::string& prefix) {
  std::error_code error;
  const std::filesystem::path place = std::filesystem::temp_directory_path(error);
  if (error) return OutputError("there is no folder for temporary files" + std::string(kAdvice));
  auto path = MakePrivateFolder((place / prefix).string());
  if (!path.ok()) return OutputError(path.status().message() + kAdvice);
  auto parent = Folder::OpenParent(path.value());
  auto held = Folder::Open(path.value(), false);
  if (!parent.ok() || !held.ok() || !held->IsOurs() || !held->Names().empty()) {
    return OutputError("somebody exchanged " + path.value() +
                       "; set TMPDIR to a folder in which others cannot");
  }
  return TemporaryFolder(std::move(parent).value(), std::move(held).value());
}

TemporaryFolder::~TemporaryFolder() {
  if (held_.fd() < 0) return;
  for (const std::string& name : held_.Names()) held_.Remove(name);
  // Removes nothing but an empty folder, whoever exchanges it before this line.
  const std::string name = LastPartOf(held_.path());
  if (parent_.Holds(name, held_)) parent_.RemoveFolder(name);
}

bool TemporaryFolder::LetOthersThrough() const {
  std::error_code error;
  std::filesystem::permissions(held_.DescriptorPath(), std::filesystem::perms{0711}, error);
  return !error;
}

}  // namespace batchlight::cli
