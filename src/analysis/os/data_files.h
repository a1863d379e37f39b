// Which of the files that a run read are its data set, as far as their names tell.
#pragma once

#include <string>
#include <string_view>

#include "store/store.h"

namespace batchlight {

// Not a file of the system, of Python or of a library, and no pipe or socket, whose names are no
// paths.
bool IsDataFile(std::string_view file);

// The deepest folder that most bytes of data files were read below; "" where none were recorded, or
// where only "/" holds most of them.
std::string DataFolder(const Store& store);

}  // namespace batchlight
