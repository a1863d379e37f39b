// The environment of the recorded program: the user's, plus the few variables that bring the
// injected library into it.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"

namespace batchlight::capture {

// Where links to libraries may lie.
struct LinkPlaces {
  std::string own;     // this user's; "": there is none
  std::string shared;  // where others make things too
};
LinkPlaces UsualLinkPlaces();

// A path to the library that LD_PRELOAD can hold: it splits at spaces and colons, so a library that
// lies under such a path is reached through a link. That stays, one for each installation, in a
// folder of this user's alone: an environment that was kept (`at`, a job's) names it for ever.
Result<std::string> PreloadPath(const std::string& library,
                                const LinkPlaces& places = UsualLinkPlaces());

struct EnvironmentOptions {
  bool inherit = true;                 // --inherit-environment
  std::vector<std::string> variables;  // --env-var, each A=B
  std::string preload;                 // PreloadPath(); "" = the program as without us
  std::vector<std::string> shims;      // the same of -t osrt's library and of --python-memory's
  std::vector<std::string> levels;     // A=B; what the user has set stays
  bool cuda = true;                    // also let the CUDA driver load the library
};

// NAME=VALUE strings. Everything but the live folder's path, which the program learns just before
// it starts.
std::vector<std::string> MakeTargetEnvironment(const EnvironmentOptions& options);

// Lines for the user about injection variables of another tool, which give way to ours.
std::vector<std::string> ReplacedInjections(const EnvironmentOptions& options);

// The value of `name`, or nullptr.
const char* FindVariable(const std::vector<std::string>& environment, const std::string& name);
void SetVariable(std::vector<std::string>& environment, const std::string& name,
                 const std::string& value);

}  // namespace batchlight::capture
