#include "inject/rt/job_rank.h"

#include <cstdlib>

#include "format/launchers.h"
#include "inject/rt/option_number.h"

namespace batchlight::inject {
namespace {

// The first launcher that names a rank counts; nullptr: none does.
const format::Launcher* FindLauncher() {
  for (const format::Launcher& launcher : format::kLaunchers) {
    if (std::getenv(launcher.rank) != nullptr) return &launcher;
  }
  return nullptr;
}

}  // namespace

bool IsOfRank(uint64_t rank) {
  const format::Launcher* const launcher = FindLauncher();
  return launcher == nullptr || LeadingNumber(std::getenv(launcher->rank)) == rank;
}

bool IsOneOfSeveral() {
  const format::Launcher* const launcher = FindLauncher();
  if (launcher == nullptr) return false;
  const char* const size =
      launcher->world_size[0] == 0 ? nullptr : std::getenv(launcher->world_size);
  return size == nullptr || LeadingNumber(size) > 1;
}

}  // namespace batchlight::inject
