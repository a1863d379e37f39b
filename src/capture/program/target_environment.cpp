#include "capture/program/target_environment.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/folder.h"
#include "base/trusted_path.h"
#include "capture/program/inherited_descriptors.h"
#include "format/control.h"

namespace batchlight::capture {
namespace {

constexpr char kSeparators[] = " :\t\n";

bool IsVariable(const std::string& entry, const std::string& name) {
  return entry.size() > name.size() && entry[name.size()] == '=' &&
         entry.compare(0, name.size(), name) == 0;
}

// A program built with gcc's AddressSanitizer exits at its start if a library comes before the
// sanitizer's. Ours may: it takes the place of nothing that the sanitizer watches.
void LetSanitizerBeSecond(std::vector<std::string>& environment) {
  const char* found = FindVariable(environment, "ASAN_OPTIONS");
  const std::string options = found != nullptr ? found : "";
  if (options.find("verify_asan_link_order") != std::string::npos) return;
  SetVariable(environment, "ASAN_OPTIONS",
              options + (options.empty() ? "" : ":") + "verify_asan_link_order=0");
}

// A new folder that LD_PRELOAD can name and nobody else may exchange: who could would choose what
// the program loads. Its path does not lead through links.
Result<Folder> MakeTrustedFolder(const std::string& place) {
  std::string path = place + "/batchlight-XXXXXX";
  if (mkdtemp(path.data()) == nullptr) return OutputError(path + ": " + std::strerror(errno));
  ASSIGN_OR_RETURN(Folder folder, Folder::Open(path, false));
  std::error_code error;
  const std::string real = std::filesystem::canonical(folder.DescriptorPath(), error).string();
  const std::string why = error ? error.message() : WhyNotTrusted(real);
  if (why.empty() && folder.IsOurs() && real.find_first_of(kSeparators) == std::string::npos) {
    return std::move(folder).Named(real);
  }
  rmdir(path.c_str());
  return OutputError(why.empty() ? real + " is no name for LD_PRELOAD" : why);
}

}  // namespace

Result<PreloadPath> PreloadPath::Make(const std::string& library) {
  PreloadPath result;
  result.path_ = library;
  if (library.find_first_of(kSeparators) == std::string::npos) return result;
  const char* const temporary = std::getenv("TMPDIR");
  auto folder = MakeTrustedFolder(temporary != nullptr ? temporary : "/tmp");
  if (!folder.ok()) folder = MakeTrustedFolder("/tmp");
  if (!folder.ok()) {
    return OutputError("LD_PRELOAD cannot name " + library +
                       ", and there is no place for a link: " + folder.status().message());
  }
  (void)fchmod(folder->fd(), 0755);  // --run-as: the program's user must find the link
  result.folder_ = folder->path();
  result.path_ = folder->path() + library.substr(library.rfind('/'));
  if (symlink(library.c_str(), result.path_.c_str()) != 0) {
    return OutputError("cannot link " + result.path_ + ": " + std::strerror(errno));
  }
  return result;
}

PreloadPath::PreloadPath(PreloadPath&& other) noexcept
    : path_(std::move(other.path_)), folder_(std::exchange(other.folder_, {})) {}

PreloadPath::~PreloadPath() {
  if (folder_.empty()) return;
  unlink(path_.c_str());
  rmdir(folder_.c_str());
}

const char* FindVariable(const std::vector<std::string>& environment, const std::string& name) {
  for (const std::string& entry : environment) {
    if (IsVariable(entry, name)) return entry.c_str() + name.size() + 1;
  }
  return nullptr;
}

void SetVariable(std::vector<std::string>& environment, const std::string& name,
                 const std::string& value) {
  for (std::string& entry : environment) {
    if (IsVariable(entry, name)) {
      entry = name + "=" + value;
      return;
    }
  }
  environment.push_back(name + "=" + value);
}

std::vector<std::string> ReplacedInjections(const EnvironmentOptions& options) {
  std::vector<std::string> lines;
  for (const char* name : {"NVTX_INJECTION64_PATH", "CUDA_INJECTION64_PATH"}) {
    const bool ours = std::strcmp(name, "CUDA_INJECTION64_PATH") != 0 || options.cuda;
    const char* value = options.inherit ? std::getenv(name) : nullptr;
    if (!ours || value == nullptr || *value == '\0' || options.preload == value) continue;
    lines.push_back(std::string(name) + " was set to " + value +
                    "; a program can have one such tool, and for this run it is batchlight");
  }
  return lines;
}

std::vector<std::string> MakeTargetEnvironment(const EnvironmentOptions& options) {
  std::vector<std::string> environment;
  if (options.inherit) {
    for (char** entry = environ; *entry != nullptr; ++entry) {
      // A tool inside a recorded program: its own program belongs to its own recording.
      if (IsVariable(*entry, format::kSessionDirVariable)) continue;
      if (!IsVariable(*entry, kProgramErrorVariable)) environment.emplace_back(*entry);
    }
  }
  for (const std::string& variable : options.variables) {
    const size_t equals = variable.find('=');
    SetVariable(environment, variable.substr(0, equals), variable.substr(equals + 1));
  }
  if (options.preload.empty()) return environment;
  // In front of what the user preloads: nothing of ours shadows it, and we are there first. The
  // shims before the rest of ours, which takes the place of some calls itself.
  const char* found = FindVariable(environment, "LD_PRELOAD");
  const std::string preload = found != nullptr ? found : "";
  std::string ours;
  for (const std::string& shims : options.shims) ours += shims + ":";
  ours += options.preload;
  if (!(preload + ":").starts_with(ours + ":")) {
    SetVariable(environment, "LD_PRELOAD", ours + (preload.empty() ? "" : ":") + preload);
  }
  for (const std::string& level : options.levels) {
    const size_t equals = level.find('=');
    const std::string name = level.substr(0, equals);
    if (FindVariable(environment, name) == nullptr) {
      SetVariable(environment, name, level.substr(equals + 1));
    }
  }
  LetSanitizerBeSecond(environment);
  SetVariable(environment, "NVTX_INJECTION64_PATH", options.preload);
  if (options.cuda) SetVariable(environment, "CUDA_INJECTION64_PATH", options.preload);
  return environment;
}

}  // namespace batchlight::capture
