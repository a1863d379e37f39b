#include "inject/collect/operator_levels.h"

#include "inject/rt/control.h"
#include "inject/rt/option_number.h"

namespace batchlight::inject {

constinit uint32_t g_operator_levels = UINT32_MAX;

void ReadOperatorLevels() {
  const format::ControlPage* page = Control();
  const uint64_t levels = page == nullptr ? 0 : OptionNumber(page->extra, "operators.levels=");
  if (levels != 0) g_operator_levels = static_cast<uint32_t>(levels);
}

}  // namespace batchlight::inject
