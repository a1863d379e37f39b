// Stacks of Python code with the time of the operators that they called, as flame graphs: what
// --stacks=python makes of -t folded and -t speedscope.
#pragma once

#include "export/exporter.h"

namespace batchlight {

Result<uint64_t> ExportPythonFolded(const Store& store, const ExportOptions& options);
Result<uint64_t> ExportPythonSpeedscope(const Store& store, const ExportOptions& options);

}  // namespace batchlight
