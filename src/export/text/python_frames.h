// Frames of Python in stacks with names.
#pragma once

#include <string>
#include <vector>

#include "store/store.h"

namespace batchlight {

// Adds "function (file.py:7)" for each frame, innermost first.
void AddPythonFrames(const Store& store, PythonStackId stack, std::vector<std::string>& frames);

}  // namespace batchlight
