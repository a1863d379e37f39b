// Which files of a live folder the recorder made: by their names and by what they begin with. A
// name alone says little: whoever may write the folder around it can call any folder of this user a
// live one.
#pragma once

#include <string>
#include <string_view>

#include "base/folder.h"

namespace batchlight::capture {

// "control", "4711.blp", ...
bool IsRecordersName(std::string_view name);

enum class Beginning {
  kOther,      // not the recorder's; or no file that can be read
  kBlank,      // nothing yet: no bytes, or zeros up to where it says what it is
  kRecorders,  // what it is
};

// Of a file of such a name; the descriptor is one for reading.
Beginning BeginningOf(const Folder& folder, const std::string& name);
Beginning BeginningOf(int fd, std::string_view name);

// Whether a recorder made the folder: one of its files says so, or there are none but blank ones,
// as right after it was made.
bool IsRecordersFolder(const Folder& folder);

}  // namespace batchlight::capture
