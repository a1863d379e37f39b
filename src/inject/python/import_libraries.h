// Which shared libraries come with an import: its own, and those that it or its code load.
#pragma once

namespace batchlight::inject {

// Records the libraries that were loaded since the last call as files of the thread's innermost
// open import; the first call only looks which are there. To be called where imports begin and
// end, not from within a Guard. Says too few if others were unloaded meanwhile.
void TellLibraries();

}  // namespace batchlight::inject
