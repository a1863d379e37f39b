#include "cli/reading/temporary_folder.h"

#include <filesystem>
#include <system_error>

#include "base/trusted_path.h"
#include "cli/reading/standard_output.h"

namespace batchlight::cli {

Result<std::string> PlaceForAWhile() {
  ASSIGN_OR_RETURN(TemporaryPlace place, FindTemporaryPlace());
  static bool is_said = false;
  if (!place.fault.empty() && !is_said) {
    SayLine("batchlight: other users could exchange the temporary files in " + place.path + ": " +
            place.fault + "; set TMPDIR to a folder where they cannot");
    is_said = true;
  }
  return std::move(place.path);
}

Result<TemporaryFolder> TemporaryFolder::Make(const std::string& prefix) {
  ASSIGN_OR_RETURN(const std::string place, PlaceForAWhile());
  const auto path = MakePrivateFolder((std::filesystem::path(place) / prefix).string());
  if (!path.ok()) {
    return OutputError(path.status().message() + "; set TMPDIR to a folder that can take more");
  }
  ASSIGN_OR_RETURN(Folder parent, Folder::OpenParent(path.value()));
  ASSIGN_OR_RETURN(Folder held, Folder::Open(path.value(), false));
  if (!held.IsOursAlone()) return OutputError(path.value() + " was exchanged by somebody else");
  return TemporaryFolder(std::move(parent), std::move(held));
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
