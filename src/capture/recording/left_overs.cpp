#include "capture/recording/left_overs.h"

#include <unistd.h>

#include <optional>
#include <utility>

#include "base/contain.h"
#include "base/file.h"
#include "base/partial_folder.h"
#include "base/printable_text.h"
#include "capture/recording/live_folder.h"
#include "capture/recording/machine_facts.h"
#include "capture/recording/recorders_files.h"
#include "capture/recording/seal.h"

namespace batchlight::capture {
namespace {

std::string Join(const std::string& folder, const std::string& name) {
  return folder.empty() || folder == "." ? name
                                         : folder + (folder.ends_with('/') ? "" : "/") + name;
}

// Only root's tool records into the folder of another user (--run-as). Another folder of ours may
// have got its name from whoever may write the folder around it.
bool IsOfOurTool(const LiveFolder& live) {
  return (live.folder().IsOurs() && IsRecordersFolder(live.folder())) ||
         (geteuid() == 0 && live.HoldsToolsFile());
}

// The live folder of that name if this user's run left it; but for the user of --run-as nobody else
// can write into it then. A link may lead to a folder that lies elsewhere for good reason.
std::optional<LiveFolder> LeftLiveFolder(const Folder& folder, const std::string& name) {
  auto live = LiveFolder::OpenIn(folder, name, Join(folder.path(), name));
  if (!live.ok() || !IsOfOurTool(live.value()) || !live->FindWriter().empty()) {
    return std::nullopt;
  }
  return std::move(live).value();
}

// Why a live folder of this user stays that another machine may still write into; "" if it is none.
std::string WhyKept(const Folder& folder, const std::string& name) {
  const auto live = LiveFolder::OpenIn(folder, name, Join(folder.path(), name));
  if (!live.ok() || !IsOfOurTool(live.value())) return {};
  const std::string host = live->HostElsewhere();
  if (host.empty()) return {};
  if (host == ThisMachine().host) {
    return "kept " + live->path() + ": it was recorded before this machine started anew, in a " +
           "container, or on another of its name; `batchlight clean` takes it ten minutes after "
           "its last change";
  }
  return "kept " + live->path() + ": it is recorded on " + host +
         ", or was less than ten minutes ago; `batchlight clean` there knows, or here later";
}

// What becomes of one left live folder, as a line for the user. Nothing: it is none any more.
Result<std::string> CleanLiveFolder(const Folder& folder, const std::string& name,
                                    const CleanOptions& options) {
  const std::optional<LiveFolder> live = LeftLiveFolder(folder, name);
  if (!live) return std::string();
  const std::string path = live->path();
  if (const auto others = live->FilesOfOthers(); !others.empty()) {
    return "kept " + path + ": " + others[0] +
           (others.size() > 1 ? " and " + std::to_string(others.size() - 1) + " more" : "") +
           " can be read by another user alone, whose tool recorded it (--run-as); ask root: " +
           "`batchlight clean " + ShellPath(folder.path()) + "` makes a recording of it";
  }
  if (!live->HoldsRecording() || options.drop_events) {
    if (!options.only_say) RETURN_IF_ERROR(live->Remove());
    return (options.only_say ? "would remove " : "removed ") + path;
  }
  const std::string sealed =
      path.substr(0, path.size() - std::string(kLiveSuffix).size()) + kRecordingSuffix;
  if (folder.Has(LastPartOf(sealed))) {
    return "kept " + path + ": " + sealed + " is there already; `batchlight trace seal -o NAME " +
           path + "` gives it another name";
  }
  if (options.only_say) return "would make " + sealed + " of " + path;
  // The file is theirs whose program it shows.
  const struct stat info = live->folder().Info();
  const bool is_theirs = info.st_uid != geteuid();
  const SealOptions how{.ended = true,
                        .output_folder = &folder,
                        .owner = is_theirs ? info.st_uid : static_cast<uid_t>(-1),
                        .group = is_theirs ? info.st_gid : static_cast<gid_t>(-1)};
  RETURN_IF_ERROR(Seal(*live, sealed, how).status());
  RETURN_IF_ERROR(live->Remove());
  return "made " + sealed + " of " + path;
}

}  // namespace

std::vector<std::string> LeftLiveFolders(const Folder& folder) {
  std::vector<std::string> left;
  for (const std::string& name : folder.Names()) {
    if (name.ends_with(kLiveSuffix) && LeftLiveFolder(folder, name)) left.push_back(name);
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
  for (const std::string& name : folder.Names()) {
    if (!name.ends_with(kLiveSuffix)) continue;
    if (std::string line = WhyKept(folder, name); !line.empty()) lines.push_back(std::move(line));
  }
  for (const std::string& name : LeftLiveFolders(folder)) {
    const Status status = Contain("cleaning " + Join(path, name), [&]() -> Status {
      ASSIGN_OR_RETURN(std::string line, CleanLiveFolder(folder, name, options));
      if (!line.empty()) lines.push_back(std::move(line));
      return {};
    });
    if (!status.ok()) failed = status;
  }
  return failed;
}

}  // namespace batchlight::capture
