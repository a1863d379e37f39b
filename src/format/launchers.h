// The launchers of distributed jobs: what of the environment is stored with each process, and where
// readers find ranks.
#pragma once

namespace batchlight::format {

struct Launcher {
  const char* name;
  const char* rank;  // name of a variable; the next two may be ""
  const char* world_size;
  const char* local_rank;
};

inline constexpr Launcher kLaunchers[] = {
#define LAUNCHER(name, rank, world_size, local_rank) {name, rank, world_size, local_rank},
#include "format/launchers.def"
#undef LAUNCHER
};

}  // namespace batchlight::format
