// SQLite on a file that is open already. By its name SQLite would open it once more, where whoever
// may write the folder can have put another file, or a link to one, in its place; a path through
// /proc/self/fd is resolved to that name first. Nothing else is opened, and nothing is locked: for
// one connection without journal and temporary files.
#pragma once

#include <string>

namespace batchlight {

// For sqlite3_open_v2; the file's name is DescriptorName(). Registered when first asked for.
const char* DescriptorVfs();
// The descriptor stays the caller's, and open longer than the connection.
std::string DescriptorName(int fd);

}  // namespace batchlight
