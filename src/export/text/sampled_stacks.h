// The stacks of named_stacks.h as flame graphs: what --stacks=native, python-samples, cuda-calls
// and os-calls make of -t folded and -t speedscope.
#pragma once

#include "export/exporter.h"

namespace batchlight {

Result<uint64_t> ExportSampledFolded(const Store& store, const ExportOptions& options);
Result<uint64_t> ExportSampledSpeedscope(const Store& store, const ExportOptions& options);

}  // namespace batchlight
