// Adds an audit hook before the interpreter starts, in a way that does no harm when it ends.
//
// CPython keeps a hook in memory from its raw allocator and frees it when it ends. In between, -X
// dev, PYTHONMALLOC=debug and debug builds put another allocator in place, which aborts the process
// over a block that is not its own. So the block's address is noted when it is made, and when
// CPython is about to free it, the block goes back to the allocator that it came from.
#pragma once

namespace batchlight::inject {

struct PyObject;
using AuditHook = int (*)(const char* event, PyObject* arguments, void* data);

// 0 if the interpreter took the hook; `add` is its PySys_AddAuditHook.
int AddAuditHook(int (*add)(AuditHook, void*), AuditHook hook);

// The hook calls this on the event kClearAuditHooks.
void BeforeAuditHooksAreFreed();
inline constexpr char kClearAuditHooks[] = "cpython._PySys_ClearAuditHooks";

}  // namespace batchlight::inject
