// What the program would have called without us.
#pragma once

namespace batchlight::inject::timers {

// nullptr: there is none.
void* FindNextFunction(const char* name);

// Found when it is first asked for: another library's constructor may call before ours has run.
template <typename Function>
Function* NextFunction(Function*& next, const char* name) {
  if (next == nullptr) next = reinterpret_cast<Function*>(FindNextFunction(name));
  return next;
}

}  // namespace batchlight::inject::timers
