// Native stacks of CPU samples with the processor time that they stand for, as flame graphs: what
// --stacks=native makes of -t folded and -t speedscope.
#pragma once

#include "export/exporter.h"

namespace batchlight {

Result<uint64_t> ExportNativeFolded(const Store& store, const ExportOptions& options);
Result<uint64_t> ExportNativeSpeedscope(const Store& store, const ExportOptions& options);

}  // namespace batchlight
