#include "capture/recording/live_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "base/folder.h"
#include "base/printable_text.h"
#include "capture/recording/machine_facts.h"
#include "capture/recording/recorders_files.h"
#include "format/control.h"

namespace batchlight::capture {
namespace {

// Each attempt that comes to nothing was overtaken by another tool.
constexpr int kAttempts = 100;

std::string WithoutSlashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

// proc(5): "Uid:", the real one, and others.
bool IsOf(uid_t user, const std::string& process) {
  constexpr std::string_view kUser = "Uid:";
  std::ifstream status(process + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(kUser))
      return std::strtoul(line.c_str() + kUser.size(), nullptr, 10) == user;
  }
  return false;
}

// Whether the process has one of the folder's files mapped; nothing where it keeps from us what it
// maps (prctl(PR_SET_DUMPABLE), root's where the tool is in a container).
std::optional<bool> MapsFolder(long pid, const std::string& folder) {
  std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
  if (!maps.is_open() && errno == EACCES) return {};
  for (std::string line; std::getline(maps, line);) {
    if (line.find(folder + "/") != std::string::npos) return true;
  }
  return false;
}

// One that keeps it from us may have, where it is the user's who records into the folder.
bool MayMapFolder(long pid, const std::string& folder, uid_t user) {
  const std::optional<bool> is_mapped = MapsFolder(pid, folder);
  return is_mapped ? *is_mapped : IsOf(user, "/proc/" + std::to_string(pid));
}

// Names of a folder's files by their inodes, which are the same whatever its path is in a
// container.
using FilesByInode = std::map<ino_t, std::string>;

// proc(5): "7f-80 rw-s 00000000 08:02 135522   /path".
bool MapsFile(long pid, const FilesByInode& files) {
  std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long inode = 0;
    if (std::sscanf(line.c_str(), "%*s %*s %*s %*s %lu", &inode) != 1 || inode == 0) continue;
    const auto found = files.find(inode);
    if (found != files.end() && line.ends_with("/" + found->second)) return true;
  }
  return false;
}

// Of a container below this one, whose processes have other numbers here; 0: none has one of the
// files mapped, or it keeps that from us.
long FindInContainers(const FilesByInode& files) {
  const ino_t own = ThisMachine().pid_namespace;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename();
    const long pid = std::strtol(name.c_str(), nullptr, 10);
    struct stat info {};
    if (pid == 0 || stat((entry.path() / "ns/pid").c_str(), &info) != 0) continue;
    if (info.st_ino != own && MapsFile(pid, files)) return pid;
  }
  return 0;
}

// Whether processes of that namespace of process numbers can be seen from ours.
bool SeesNamespace(uint64_t other, uint64_t own) {
  constexpr uint64_t kOfTheMachine = 0xEFFFFFFC;  // PROC_PID_INIT_INO of the kernel: all are below
  return other == 0 || own == 0 || other == own || own == kOfTheMachine;
}

Status CannotMake(const std::string& path, int reason) {
  const size_t slash = path.rfind('/');
  const std::string parent = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  return OutputError("cannot record into folder " + parent + ": " + std::strerror(reason) +
                     (reason == ENOENT ? "; create it first or choose another with -o"
                                       : "; choose another with -o"));
}

// Some file systems give every file to everybody, whatever is asked of them.
Status MakePrivate(const Folder& folder) {
  const bool is_ours = folder.IsOurs();
  if (is_ours) (void)fchmod(folder.fd(), 0700);  // an unusual umask may have taken our own rights
  if (is_ours && (folder.Info().st_mode & 0077) == 0) return {};
  return OutputError("cannot record into " + folder.path() +
                     ": its file system does not keep it from other users, who could then change "
                     "what the program runs; choose a folder on another with -o");
}

}  // namespace

Result<LiveFolder> LiveFolder::Create(const std::string& path, bool replace) {
  auto parent = Folder::OpenParent(path);
  if (!parent.ok()) return CannotMake(path, errno);
  const std::string name = LastPartOf(path);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const bool made = mkdirat(parent->fd(), name.c_str(), 0700) == 0;
    if (!made && errno != EEXIST) return CannotMake(path, errno);
    auto opened = Folder::Open(parent->DescriptorPath() + "/" + name, false);
    if (!opened.ok() && errno == ENOENT) continue;
    if (!opened.ok() && errno != ENOTDIR && errno != ELOOP) {
      const int reason = errno;
      if (made) parent->RemoveFolder(name);
      return CannotMake(path, reason);
    }
    if (!opened.ok()) return OutputError(path + " is no folder; choose another name with -o");
    ASSIGN_OR_RETURN(Folder own_parent, Folder::Open(parent->DescriptorPath()));
    LiveFolder live(std::move(own_parent), std::move(opened).value().Named(path));
    // Who made the folder may find that another tool looks at it; that one lets go, or takes it.
    if (live.TakeLock(made) == Lock::kBusy) {
      return OutputError(path + " is in use by the batchlight that records it; choose another " +
                         "name with -o");
    }
    if (!live.IsStillThere()) continue;
    if (made && !live.folder_.Names().empty()) {
      // One of this user's that lay beside it, with a recording in it perhaps.
      return OutputError("cannot record into " + path + ": somebody moved it while it was made; " +
                         "choose a place that nobody else may write, with -o");
    }
    if (made) {
      const Status status = MakePrivate(live.folder_);
      if (status.ok()) return live;
      (void)live.Remove();
      return status;
    }
    if (replace && live.folder_.IsOurs() && live.MoveAside(name)) continue;
    RETURN_IF_ERROR(live.CheckReplaceable(replace));
    RETURN_IF_ERROR(live.Remove());
  }
  return OutputError(path + " is in use by other batchlights; choose another name with -o");
}

Result<LiveFolder> LiveFolder::Open(const std::string& given) {
  const std::string path = WithoutSlashes(given);
  ASSIGN_OR_RETURN(Folder parent, Folder::OpenParent(path));
  ASSIGN_OR_RETURN(Folder folder, Folder::Open(path));
  return LiveFolder(std::move(parent), std::move(folder));
}

Result<LiveFolder> LiveFolder::OpenIn(const Folder& folder, const std::string& name,
                                      const std::string& path) {
  ASSIGN_OR_RETURN(Folder parent, Folder::Open(folder.DescriptorPath()));
  ASSIGN_OR_RETURN(Folder inside, Folder::Open(folder.DescriptorPath() + "/" + name, false));
  return LiveFolder(std::move(parent), std::move(inside).Named(path));
}

LiveFolder::Lock LiveFolder::TakeLock(bool wait) const {
  constexpr int kWaitMs = 2000;
  for (int waited_ms = 0;; ++waited_ms) {
    // A file system without locks: the folder is then taken as nobody's.
    if (flock(folder_.fd(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return Lock::kTaken;
    if (!wait || waited_ms == kWaitMs) return Lock::kBusy;
    usleep(1000);
  }
}

// A job that is queued again starts under the name of what another machine may still record: it is
// not to wait for ten minutes, and nothing is to be lost.
bool LiveFolder::MoveAside(const std::string& name) const {
  const std::string host = HostElsewhere();
  if (host.empty() || !name.ends_with(kLiveSuffix)) return false;
  const std::string aside =
      name.substr(0, name.size() - (sizeof kLiveSuffix - 1)) + "-" + RandomLetters() + kLiveSuffix;
  if (renameat(parent_.fd(), name.c_str(), parent_.fd(), aside.c_str()) != 0) return false;
  std::fprintf(stderr,
               "batchlight: what %s recorded as %s is %s now; `batchlight clean` makes a "
               "recording of it once it is ten minutes old\n",
               host.c_str(), name.c_str(), aside.c_str());
  return true;
}

Status LiveFolder::CheckReplaceable(bool replace) const {
  const uid_t owner = folder_.Info().st_uid;
  if (owner != geteuid() && geteuid() != 0) {
    return OutputError(path() + " belongs to another user; choose another name with -o");
  }
  if (!IsRecordersFolder(folder_)) {
    return OutputError(
        path() + " is there already, and no recording is in it; choose another name " + "with -o");
  }
  if (const std::string writer = FindWriter(); !writer.empty()) {
    return OutputError(path() + " is in use by " + writer + "; choose another name with -o");
  }
  // Of which nothing would make way, once all else was removed.
  if (const auto others = FilesOfOthers(); !others.empty()) {
    return OutputError(path() + "/" + others[0] +
                       " can be read by another user alone, whose tool " +
                       "recorded it (--run-as); choose another name with -o, or ask root for "
                       "`batchlight clean`");
  }
  if (replace) return {};
  return OutputError(path() + " exists already, left by a run whose tool was killed. " +
                     "`batchlight summary " + ShellPath(path()) +
                     "` opens it, `batchlight trace seal " + ShellPath(path()) +
                     "` turns it into a recording, -f overwrites it");
}

std::string LiveFolder::FindWriter() const {
  if (TakeLock(false) == Lock::kBusy) return "the batchlight that records it";
  const std::string real_path = RealPath();
  FilesByInode files;
  for (const std::string& name : ProcessFiles()) {
    const long pid = std::strtol(name.c_str(), nullptr, 10);
    if (pid > 0 && MayMapFolder(pid, real_path, folder_.Info().st_uid))
      return "process " + std::to_string(pid);
    struct stat info {};
    const bool is_there = fstatat(folder_.fd(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0;
    if (pid > 0 && is_there) files[info.st_ino] = name;
  }
  if (const long pid = files.empty() ? 0 : FindInContainers(files); pid != 0)
    return "process " + std::to_string(pid);
  const std::string host = HostElsewhere();
  if (host.empty()) return {};
  return "a batchlight on " + host + " (a file in it changed less than ten minutes ago)";
}

std::string LiveFolder::HostElsewhere() const {
  format::Machine machine{};
  const int fd = OpenProcessFile(kControlFile, O_RDONLY);
  if (fd < 0) return {};
  const ssize_t bytes = pread(fd, &machine, sizeof machine, offsetof(format::ControlPage, machine));
  close(fd);
  machine.boot_id[sizeof machine.boot_id - 1] = machine.host[sizeof machine.host - 1] = '\0';
  const format::Machine here = ThisMachine();
  const std::string_view boot_id = here.boot_id;
  const bool is_known = bytes == sizeof machine && machine.boot_id[0] != '\0' && !boot_id.empty();
  const bool is_here =
      boot_id == machine.boot_id && SeesNamespace(machine.pid_namespace, here.pid_namespace);
  if (!is_known || is_here || !ChangedLately()) return {};
  return machine.host[0] == '\0' ? "another machine" : PrintableText(machine.host);
}

// A file of the future is one of a machine whose clock is ahead.
bool LiveFolder::ChangedLately() const {
  constexpr time_t kLatelySeconds = 600;
  const time_t earliest = time(nullptr) - kLatelySeconds;
  for (const std::string& name : folder_.Names()) {
    struct stat info {};
    const bool is_there = fstatat(folder_.fd(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0;
    if (is_there && info.st_mtime > earliest) return true;
  }
  return false;
}

bool LiveFolder::HoldsRecording() const {
  return folder_.Has(kControlFile) || folder_.Has(kToolFile);
}

std::string LiveFolder::RealPath() const {
  char* resolved = realpath(folder_.DescriptorPath().c_str(), nullptr);
  std::string real_path = resolved != nullptr ? resolved : path();
  free(resolved);
  return real_path;
}

bool LiveFolder::IsMappedBy(pid_t pid) const { return MapsFolder(pid, RealPath()).value_or(false); }

std::vector<std::string> LiveFolder::ProcessFiles() const {
  std::vector<std::string> names = folder_.Names();
  std::erase_if(names, [](const std::string& name) { return !name.ends_with(".blp"); });
  return names;
}

std::vector<std::string> LiveFolder::FilesOfOthers() const {
  std::vector<std::string> names;
  for (const std::string& name : ProcessFiles()) {
    struct stat info {};
    const bool is_others = fstatat(folder_.fd(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
                           S_ISREG(info.st_mode) && info.st_nlink == 1 && info.st_uid != geteuid();
    if (!is_others) continue;
    const int fd = folder_.OpenFile(name, O_RDONLY);
    if (fd < 0 && errno == EACCES) names.push_back(name);
    if (fd >= 0) close(fd);
  }
  return names;
}

bool LiveFolder::HoldsToolsFile() const {
  const int fd = OpenProcessFile(kToolFile, O_RDONLY);
  struct stat info {};
  const bool is_ours = fd >= 0 && fstat(fd, &info) == 0 && info.st_uid == geteuid();
  if (fd >= 0) close(fd);
  return is_ours;
}

int LiveFolder::OpenProcessFile(const std::string& name, int flags) const {
  const int fd = folder_.OpenFile(name, flags);
  if (fd < 0) return fd;
  struct stat info {};
  const bool is_file = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_nlink == 1;
  const bool is_tools = name == kToolFile || name == kCpuFile || name == kPythonFile ||
                        name == kNamesFile || name == kUsageFile;
  const bool is_owners =
      info.st_uid == folder_.Info().st_uid || (is_tools && info.st_uid == geteuid());
  // In a folder of theirs another user may have put a file of the tool's user, whatever it holds.
  const bool is_moved = info.st_uid != folder_.Info().st_uid &&
                        (!name.ends_with(".blp") || BeginningOf(fd, name) == Beginning::kOther);
  if (is_file && is_owners && !is_moved) return fd;
  close(fd);
  errno = EACCES;
  return -1;
}

Result<std::optional<MappedFile>> LiveFolder::Map(const std::string& name) const {
  const int fd = OpenProcessFile(name, O_RDONLY);
  if (fd < 0) {
    const bool foreign = errno == ELOOP || errno == ENXIO || errno == EACCES || errno == ENOENT;
    if (foreign) return std::optional<MappedFile>();
    return InputError("cannot open " + path() + "/" + name + ": " + std::strerror(errno));
  }
  ASSIGN_OR_RETURN(MappedFile file, MappedFile::FromDescriptor(fd, path() + "/" + name));
  return std::optional<MappedFile>(std::move(file));
}

// To cut a file at its end frees what is reserved behind it.
void LiveFolder::GiveBackRoom() const {
  for (const std::string& name : ProcessFiles()) {
    const int fd = OpenProcessFile(name, O_RDWR);
    if (fd < 0) continue;
    struct stat info {};
    [[maybe_unused]] const bool given = fstat(fd, &info) == 0 && ftruncate(fd, info.st_size) == 0;
    close(fd);
  }
}

bool LiveFolder::GiveTo(uid_t user, gid_t group) const {
  return fchown(folder_.fd(), user, group) == 0;
}

LiveFolder::LiveFolder(LiveFolder&& other) noexcept
    : parent_(std::move(other.parent_)),
      folder_(std::move(other.folder_)),
      goes_at_end_(std::exchange(other.goes_at_end_, false)) {}

LiveFolder::~LiveFolder() {
  if (goes_at_end_ && IsStillThere()) {
    unlinkat(parent_.fd(), LastPartOf(path()).c_str(), AT_REMOVEDIR);
  }
}

// Removed files that somebody has open yet, under the names that NFS and FUSE give them.
bool LiveFolder::HoldsOnlyOpenFiles() const {
  const int error = errno;
  const std::vector<std::string> names = folder_.Names();
  errno = error;
  return !names.empty() && std::all_of(names.begin(), names.end(), [](const std::string& name) {
    return name.starts_with(".nfs") || name.starts_with(".fuse_hidden");
  });
}

// The files that say so last: who goes on with what is left of it knows it by them.
Status LiveFolder::Remove() const {
  std::vector<std::string> blank, written;
  for (const std::string& name : folder_.Names()) {
    if (!IsRecordersName(name)) continue;
    const Beginning beginning = BeginningOf(folder_, name);
    if (beginning == Beginning::kBlank) blank.push_back(name);
    if (beginning == Beginning::kRecorders) written.push_back(name);
  }
  if (IsRecordersFolder(folder_)) {
    for (const auto* names : {&blank, &written}) {
      for (const std::string& name : *names) folder_.Remove(name);
    }
  }
  // Not a folder that stands there by now in place of ours.
  if (!IsStillThere()) return {};
  if (unlinkat(parent_.fd(), LastPartOf(path()).c_str(), AT_REMOVEDIR) == 0) return {};
  goes_at_end_ = HoldsOnlyOpenFiles();
  if (goes_at_end_) return {};
  return OutputError("cannot remove " + path() + ": " + std::strerror(errno));
}

}  // namespace batchlight::capture
