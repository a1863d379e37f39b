#include "capture/program/target_environment.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>

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

// What other users may have in mind to make is another name.
std::string DigestOf(std::string_view text) {
  uint64_t digest = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : text) digest = (digest ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  std::string digits;
  for (int i = 0; i < 16; ++i) digits += "0123456789abcdef"[(digest >> (60 - 4 * i)) & 15];
  return digits;
}

// A folder of this user's alone, made if it is not there; --run-as: the program's user must get
// through root's. The folder that it lies in is a trusted place.
Status TakeFolder(const std::string& path) {
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    return OutputError(path + ": " + std::strerror(errno));
  }
  ASSIGN_OR_RETURN(const Folder folder, Folder::Open(path, false));
  if (!folder.IsOursAlone()) return OutputError(path + " is not yours alone");
  if (geteuid() != 0 || fchmod(folder.fd(), 0755) == 0) return {};
  return OutputError("cannot let others through " + path + ": " + std::strerror(errno));
}

// The link to the library in a folder of it in `own`.
Result<std::string> LinkIn(const std::string& own, const std::string& library) {
  const std::string folder = own + "/" + DigestOf(library);
  const std::string link = folder + library.substr(library.rfind('/'));
  if (link.find_first_of(kSeparators) != std::string::npos) {
    return OutputError(link + " is no name for LD_PRELOAD");
  }
  RETURN_IF_ERROR(TakeFolder(own));
  RETURN_IF_ERROR(TakeFolder(folder));
  if (symlink(library.c_str(), link.c_str()) != 0 && errno != EEXIST) {
    return OutputError("cannot link " + link + ": " + std::strerror(errno));
  }
  std::error_code error;
  if (std::filesystem::read_symlink(link, error) == library) return link;
  return OutputError(link + " is something else than the link to " + library + ": remove it");
}

Result<std::string> LinkInNamed(const std::string& place, const std::string& name,
                                const std::string& library) {
  ASSIGN_OR_RETURN(const std::string real, FirstTrustedPlace({place}));
  return LinkIn(real + "/" + name, library);
}

// Where somebody else has the name. Each run makes one more.
Result<std::string> LinkInNew(const std::string& place, const std::string& prefix,
                              const std::string& library) {
  ASSIGN_OR_RETURN(const std::string real, FirstTrustedPlace({place}));
  ASSIGN_OR_RETURN(const std::string own, MakePrivateFolder(real + "/" + prefix));
  return LinkIn(own, library);
}

// ~/.cache; "": there is no home.
std::string CacheFolder() {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache == '/') return cache;
  const char* const home = std::getenv("HOME");
  return home != nullptr && *home == '/' ? std::string(home) + "/.cache" : "";
}

}  // namespace

LinkPlaces UsualLinkPlaces() { return {geteuid() == 0 ? "/run" : CacheFolder(), "/tmp"}; }

Result<std::string> PreloadPath(const std::string& library, const LinkPlaces& places) {
  if (library.find_first_of(kSeparators) == std::string::npos) return library;
  std::string why;
  if (!places.own.empty()) {
    (void)mkdir(places.own.c_str(), 0700);  // ~/.cache
    auto link = LinkInNamed(places.own, "batchlight", library);
    if (link.ok()) return link;
    why = link.status().message() + "; ";
  }
  // Apart from sessions, whose folder nobody else gets through.
  const std::string name = "batchlight-links-" + std::to_string(geteuid());
  auto link = LinkInNamed(places.shared, name, library);
  if (!link.ok()) link = LinkInNew(places.shared, name + "-", library);
  if (link.ok()) return link;
  return OutputError("LD_PRELOAD cannot name " + library +
                     ", and there is no place for a link: " + why + link.status().message());
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
