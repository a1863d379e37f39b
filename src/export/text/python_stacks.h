// Stacks of Python code with the time of the operators that they called, as flame graphs: what
// --stacks=python makes of -t folded and -t speedscope.
#pragma once

#include <string>
#include <vector>

#include "analysis/lines/stack_times.h"
#include "export/exporter.h"

namespace batchlight {

// Errors: none were recorded.
Result<std::vector<StackTimes>> PythonStacksOf(const Store& store);
// Innermost first, without those of the recorder.
std::vector<PythonFrameId> FramesOf(const Store& store, PythonStackId stack);
// What the stack does not say: "" for the forward of a line.
std::string Remark(const StackTimes& times);

Result<uint64_t> ExportPythonFolded(const Store& store, const ExportOptions& options);
Result<uint64_t> ExportPythonSpeedscope(const Store& store, const ExportOptions& options);

}  // namespace batchlight
