#include "capture/recording/left_overs.h"

#include <unistd.h>

#include "base/contain.h"
#include "base/file.h"
#include "base/partial_folder.h"
#include "capture/recording/live_folder.h"
#include "capture/recording/seal.h"

namespace batchlight::capture {
namespace {

std::string Join(const std::string& folder, const std::string& name) {
  return folder.empty() || folder == "." ? name
                                         : folder + (folder.ends_with('/') ? "" : "/") + name;
}

// What becomes of one left live folder, as a line for the user.
Result<std::string> CleanLiveFolder(const std::string& path, const CleanOptions& options) {
  ASSIGN_OR_RETURN(const LiveFolder live, LiveFolder::Open(path));
  const bool empty = !live.HoldsRecording();
  if (empty || options.drop_events) {
    if (!options.only_say) RETURN_IF_ERROR(live.Remove());
    return (options.only_say ? "would remove " : "removed ") + path;
  }
  const std::string sealed =
      path.substr(0, path.size() - std::string(kLiveSuffix).size()) + kRecordingSuffix;
  if (FileExists(sealed)) {
    return "kept " + path + ": " + sealed + " is there already; `batchlight trace seal -o NAME " +
           path + "` gives it another name";
  }
  if (options.only_say) return "would make " + sealed + " of " + path;
  RETURN_IF_ERROR(Seal(live, sealed, {.ended = true}).status());
  RETURN_IF_ERROR(live.Remove());
  return "made " + sealed + " of " + path;
}

}  // namespace

std::vector<std::string> LeftLiveFolders(const Folder& folder) {
  std::vector<std::string> left;
  for (const std::string& name : folder.Names()) {
    if (!name.ends_with(kLiveSuffix)) continue;
    const auto live = LiveFolder::Open(Join(folder.path(), name));
    if (live.ok() && live->folder().Info().st_uid == geteuid() && live->FindWriter().empty()) {
      left.push_back(name);
    }
  }
  return left;
}

Status Clean(const std::string& path, const CleanOptions& options,
             std::vector<std::string>& lines) {
  ASSIGN_OR_RETURN(const Folder folder, Folder::Open(path));
  Status failed;
  for (const std::string& name : LeftPartials(folder, "")) {
    if (!options.only_say && !folder.Remove(name)) {
      failed = OutputError("cannot remove " + Join(path, name));
      continue;
    }
    lines.push_back((options.only_say ? "would remove " : "removed ") + Join(path, name));
  }
  for (const std::string& name : LeftPartialFolders(folder)) {
    if (!options.only_say && !RemovePartialFolder(folder, name)) {
      failed = OutputError("cannot remove " + Join(path, name));
      continue;
    }
    lines.push_back((options.only_say ? "would remove " : "removed ") + Join(path, name));
  }
  for (const std::string& name : LeftLiveFolders(folder)) {
    const std::string live = Join(path, name);
    const Status status = Contain("cleaning " + live, [&]() -> Status {
      ASSIGN_OR_RETURN(std::string line, CleanLiveFolder(live, options));
      lines.push_back(std::move(line));
      return {};
    });
    if (!status.ok()) failed = status;
  }
  return failed;
}

}  // namespace batchlight::capture
