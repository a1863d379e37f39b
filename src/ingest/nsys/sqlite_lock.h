// An SQLite file that no other program changes while this lives, as SQLite itself locks it. SQLite
// then reads it as one that never changes: it opens nothing beside the file. What lies there
// (NAME-wal, -shm, -journal) may be pipes and links that somebody put there, and SQLite makes some
// of them.
#pragma once

#include <memory>
#include <string>

#include "base/status.h"

namespace batchlight {

class SqliteLock {
 public:
  // Errors (kInput): another program writes the file, or left what it wrote beside it.
  static Result<std::shared_ptr<const SqliteLock>> Take(const std::string& path);
  SqliteLock(const SqliteLock&) = delete;
  SqliteLock& operator=(const SqliteLock&) = delete;
  ~SqliteLock();

  // For sqlite3_open_v2 with SQLITE_OPEN_URI.
  std::string Address(const std::string& path) const;

 private:
  SqliteLock(int fd, bool reads_log) : fd_(fd), reads_log_(reads_log) {}
  int fd_;
  bool reads_log_;  // NAME-wal holds a part of the file, and is this user's
};

}  // namespace batchlight
