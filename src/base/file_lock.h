// Locks of single bytes of a file, for other processes that ask for them too (as SQLite does). They
// belong to the open file: neither another descriptor's end nor a child process changes them.
#pragma once

#include <cstdint>

namespace batchlight {

// Until `fd` is closed no other process locks the bytes to write. False: one has done so already. A
// file system without locks has none that another could hold.
bool LockToRead(int fd, int64_t first, int64_t bytes);

// Whether another process has locked one of the bytes to write.
bool IsLockedToWrite(int fd, int64_t first, int64_t bytes);

}  // namespace batchlight
