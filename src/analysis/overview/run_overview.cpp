#include "analysis/overview/run_overview.h"

#include <utility>

#include "analysis/advice/advice.h"

namespace batchlight {

RunOverview BuildOverview(const Store& store, const MeasureOptions& options) {
  RunOverview overview{MeasureRun(store, options), {}};
  overview.findings = FindAdvice(overview);
  return overview;
}

}  // namespace batchlight
