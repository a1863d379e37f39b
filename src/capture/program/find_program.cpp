#include "capture/program/find_program.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

namespace batchlight::capture {
namespace {

enum class Candidate { kMissing, kFolder, kNotExecutable, kGood };

Candidate Look(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return Candidate::kMissing;
  if (S_ISDIR(info.st_mode)) return Candidate::kFolder;
  return access(path.c_str(), X_OK) == 0 ? Candidate::kGood : Candidate::kNotExecutable;
}

FoundProgram Problem(int exit_code, std::string text) { return {"", exit_code, std::move(text)}; }

FoundProgram Refuse(const std::string& path, Candidate candidate) {
  if (candidate == Candidate::kFolder) {
    return Problem(kExitNotExecutable, "cannot run " + path + ": it is a folder");
  }
  const bool python = path.ends_with(".py");
  return Problem(kExitNotExecutable, "cannot run " + path + ": it is not executable" +
                                         (python ? "; did you mean `python3 " + path + "`?"
                                                 : "; `chmod +x " + path + "` makes it so"));
}

// What somebody who gave a name that is not in PATH most likely meant, or "".
std::string Meant(const std::string& name, const std::string& search_path) {
  if (name == "python" && !FindProgram("python3", search_path).path.empty()) {
    return "; did you mean python3?";
  }
  if (name.empty() || Look(name) == Candidate::kMissing) return "";
  const bool python = name.ends_with(".py");
  return "; did you mean " + (python ? "`python3 " + name + "`?" : "./" + name + "?");
}

}  // namespace

FoundProgram FindProgram(const std::string& name, const std::string& search_path) {
  if (name.find('/') != std::string::npos) {
    const Candidate candidate = Look(name);
    if (candidate == Candidate::kGood) return {name, 0, ""};
    if (candidate != Candidate::kMissing) return Refuse(name, candidate);
    return Problem(kExitNotFound, "cannot run " + name + ": there is no such file");
  }
  std::string refused;
  for (std::string_view rest = search_path; !name.empty();) {
    const size_t colon = rest.find(':');
    const std::string_view folder = rest.substr(0, colon);
    const std::string path = (folder.empty() ? "." : std::string(folder)) + "/" + name;
    const Candidate candidate = Look(path);
    if (candidate == Candidate::kGood) return {path, 0, ""};
    if (candidate == Candidate::kNotExecutable && refused.empty()) refused = path;
    if (colon == std::string_view::npos) break;
    rest.remove_prefix(colon + 1);
  }
  if (!refused.empty()) return Refuse(refused, Candidate::kNotExecutable);
  return Problem(kExitNotFound,
                 "cannot run " + name + ": no such program in PATH" + Meant(name, search_path));
}

FoundProgram ExplainStartFailure(const std::string& path, const StartFailure& failure) {
  if (failure.at == StartFailure::At::kBecomingUser) {
    return Problem(kExitNotExecutable, "cannot run " + path + " as the user of --run-as: " +
                                           std::strerror(failure.error));
  }
  if (failure.error == ENOENT) {
    return Problem(kExitNotFound,
                   "cannot run " + path + ": the interpreter or loader it names does not exist");
  }
  return Problem(kExitNotExecutable, "cannot run " + path + ": " + std::strerror(failure.error));
}

}  // namespace batchlight::capture
