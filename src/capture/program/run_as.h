// --run-as: the program runs as another user than the tool, which is root.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/status.h"

namespace batchlight::capture {

struct RunAs {
  uid_t uid = 0;
  gid_t gid = 0;
  std::string name;
  std::string home;
  std::string shell;
  std::vector<gid_t> groups;
};

// Looks the user up, by name or number, as the machine's nsswitch.conf says. Errors (kUsage): no
// such user; the tool is not root.
Result<RunAs> FindUser(const std::string& user);

// Whether that is another than the tool's own.
bool IsAnother(const std::optional<RunAs>& user);

// Makes the calling process the user's, groups included. False with errno if that fails.
bool Become(const RunAs& user);

// HOME, USER, LOGNAME and SHELL as after a login; those in `kept` (NAME=VALUE) stay.
void SetUserVariables(const RunAs& user, const std::vector<std::string>& kept,
                      std::vector<std::string>& environment);

// Asks access(2) as that user, in a process of its own: every folder on the way counts.
bool CanReach(const RunAs& user, const std::string& path, int mode);

// Whether the user can write into `folder` and read `library`. Errors: kOutput.
Status CheckReach(const RunAs& user, const std::string& folder, const std::string& library);

}  // namespace batchlight::capture
