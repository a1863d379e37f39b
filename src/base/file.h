// Files on the tool side: writing that never leaves half a file under its final name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/folder.h"
#include "base/mapped_file.h"
#include "base/status.h"

namespace batchlight {

// How a new file comes to be.
struct NewFile {
  bool is_private = false;               // readable by its owner alone, whatever the umask is
  bool replace = true;                   // false: Commit() fails if the name is taken by then
  const Folder* folder = nullptr;        // takes the file, under the last part of its path
  uid_t owner = static_cast<uid_t>(-1);  // who gets the file in Commit(); -1 = nobody else
  gid_t group = static_cast<gid_t>(-1);
};

// What follows a file's name while it is written; then come random letters.
inline constexpr char kPartialInfix[] = ".partial-";

// Those of `name`'s partial files in the folder that a killed process of this user left. With an
// empty name: of all files.
std::vector<std::string> LeftPartials(const Folder& folder, const std::string& name);

// Writes PATH.partial-<random> and renames it to PATH in Commit(). Without Commit() the destructor
// removes it; what an earlier process that was killed left of it is removed first. The folder is
// held open meanwhile. Errors are kOutput. Not thread-safe.
class AtomicFileWriter {
 public:
  static Result<AtomicFileWriter> Create(const std::string& path, const NewFile& how = {});
  // The same interface for what cannot be renamed: "-" is standard output, else an existing pipe or
  // device. What was written before an error cannot be taken back.
  static Result<AtomicFileWriter> Stream(const std::string& path);
  AtomicFileWriter(AtomicFileWriter&& other) noexcept;
  AtomicFileWriter& operator=(AtomicFileWriter&& other) = delete;
  ~AtomicFileWriter();

  Status Write(std::string_view bytes);
  Status Commit();
  // The file while it is not finished, open for reading too, for a writer of another kind (SQLite).
  // It goes by no name: somebody else may have moved the file and put another in its place.
  int fd() const { return fd_; }
  uint64_t bytes_written() const { return flushed_bytes_ + buffer_.size(); }

 private:
  AtomicFileWriter() = default;
  Status Flush();
  const Folder& folder() const { return how_.folder != nullptr ? *how_.folder : *own_folder_; }

  std::string path_;
  std::string partial_name_;  // empty: a stream
  NewFile how_;
  std::optional<Folder> own_folder_;
  std::string buffer_;
  uint64_t flushed_bytes_ = 0;
  int fd_ = -1;
  bool is_terminal_ = false;  // where what would act on it is replaced
};

// Errors as above. ReadWholeFile is for small files.
Result<std::string> ReadWholeFile(const std::string& path);
Status WriteWholeFile(const std::string& path, std::string_view text, const NewFile& how = {});
bool FileExists(const std::string& path);
// "-", or something that is there and is neither a file nor a folder: to be written as it is.
bool IsStream(const std::string& path);

}  // namespace batchlight
