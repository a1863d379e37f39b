// The text of the lines of Python that a recording names, from the files on this machine.
#pragma once

#include "store/store.h"

namespace batchlight {

// Fills python_frames.text. A recording says which files, so only regular files named *.py are
// opened, and only those that nobody has changed since the session; lines of packages are left out.
void ReadSourceLines(Store& store);

}  // namespace batchlight
