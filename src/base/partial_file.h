// What a file that is being written owes to the operating system: the lock by which others see that
// its writer lives, and the step to its final name. base/windows has the same for Windows.
#pragma once

#include <string>

#include "base/file.h"

namespace batchlight {

// Whether the file is one of this user's that no process writes any more.
bool IsLeftBehind(const Folder& folder, const std::string& name);

// Removes the file if it IsLeftBehind(), and not one that a writer has just made and not marked
// yet.
void RemoveIfLeftBehind(const Folder& folder, const std::string& name);

// IsLeftBehind() is false as long as `fd` is open. False: another process was about to remove the
// file, and may have done so.
bool MarkAsWritten(int fd, const Folder& folder, const std::string& name);

// Gives the file its owner and its final name, and closes `fd`. False: errno says why, EEXIST that
// the name is taken and `how` forbids to replace it, ENOENT that the partial name is no longer that
// of this file; the partial name may then be there still.
bool FinishPartial(int fd, const Folder& folder, const std::string& partial_name,
                   const std::string& final_name, const NewFile& how);

// Closes a file that is not to be finished, and removes it if the partial name still leads to it.
void DropPartial(int fd, const Folder& folder, const std::string& partial_name);

// A descriptor of standard output that can be closed by itself. -1 with errno.
int SecondStandardOutput();

// After a write that failed: if the reader of a pipe is gone, as in `batchlight stats RUN | head`,
// ends this process without a word, as SIGPIPE does where there are signals.
void EndIfUnread();

// From now on a file that grows beyond the user's limit (ulimit -f) is an error like a full disk:
// the signal would end the tool.
void MakeSizeLimitAnError();

}  // namespace batchlight
