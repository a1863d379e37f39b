// Programs that are run only to list the libraries that they load: that is all that ldd does, and
// tools that pack programs (PyInstaller) copy what is listed. Ours is no library of the program.
#pragma once

#include <cstddef>

namespace batchlight::inject {

constexpr size_t kPreloadBytes = 4096;

// Of an environment, its number of variables where it asks the dynamic linker to list; else 0.
[[gnu::cold]] size_t VariablesOfListing(char* const environment[]);

// The environment without our libraries in LD_PRELOAD, in the caller's memory: a child of vfork may
// take no other. `copy` has room for one variable more.
[[gnu::cold]] void LeaveOurLibrariesOut(char* const environment[], char** copy,
                                        char (&preload)[kPreloadBytes]);

}  // namespace batchlight::inject
