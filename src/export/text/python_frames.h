// Frames of Python in stacks with names.
#pragma once

#include <vector>

#include "export/text/named_stacks.h"

namespace batchlight {

// Adds "function (file.py:7)" for each frame, innermost first.
void AddPythonFrames(const Store& store, PythonStackId stack, std::vector<NamedFrame>& frames);

}  // namespace batchlight
