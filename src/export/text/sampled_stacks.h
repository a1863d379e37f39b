// Stacks that samples found, native or of Python, with the time that they stand for, as flame
// graphs: what --stacks=native and --stacks=python-samples make of -t folded and -t speedscope.
#pragma once

#include "export/exporter.h"

namespace batchlight {

Result<uint64_t> ExportSampledFolded(const Store& store, const ExportOptions& options);
Result<uint64_t> ExportSampledSpeedscope(const Store& store, const ExportOptions& options);

}  // namespace batchlight
