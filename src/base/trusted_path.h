// What other users can do at a place: change the code that lies there, read a file.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/folder.h"
#include "base/status.h"

namespace batchlight {

// Why somebody else could change what lies at `path` (followed to its end): it, or a folder on the
// way to it, belongs neither to this user nor to root, or others may write it. "": nobody could. In
// a folder like /tmp, with the sticky bit, nobody can exchange what is another's. Where a container
// has no number for root, folders on the way may belong to whom / belongs, but none right below
// such a folder: that may be of any user without a number.
std::string WhyNotTrusted(const std::string& path);

// The first of these folders that can be written and in which nobody else could exchange what is
// made, as a path without links; "" is none. Errors (kOutput): why none of them.
Result<std::string> FirstTrustedPlace(const std::vector<std::string>& places);

// Where something lies for a while.
struct TemporaryPlace {
  std::string path;   // without links
  std::string fault;  // why others could exchange what is made there; "": nobody could
};
std::vector<std::string> TemporaryPlaces();  // TMPDIR, the system's
// The first such place of these; where none is, the first that can be written. Errors say what to
// do.
Result<TemporaryPlace> FindTemporaryPlace(const std::vector<std::string>& = TemporaryPlaces());

// Whether the user may read the file, which is open and lies in the folder, as far as owner and
// mode say: its own, the folder's and those of each folder on the way. Of groups nothing is known.
bool IsReadableTo(uid_t user, int file, const Folder& folder);

}  // namespace batchlight
