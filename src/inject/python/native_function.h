// Functions of the native module: each takes Python's arguments as an array and never raises.
#pragma once

#include "inject/python/cpython.h"

namespace batchlight::inject {

using NativeFunction = PyObject*(PyObject* self, PyObject* const* arguments, PySsize count);

// The i-th argument; None if it was left out.
inline PyObject* Argument(PyObject* const* arguments, PySsize count, PySsize i) {
  return i < count ? arguments[i] : g_py._Py_NoneStruct;
}

// native_events.cpp
NativeFunction PhaseBegin, PhaseEnd, Collected, ImportedFile, NameThread, OperatorsFromRanges;
// native_modules.cpp
NativeFunction ModuleEnterBy, ModuleCallsBy, ModuleNamed, ModuleLeave;
// native_ranges.cpp
NativeFunction Push, PushPlain, Pop, Start, StartPlain, End, Mark, MarkPlain, NameCategory;
NativeFunction GetDomain;
NativeFunction ProfileStart, ProfileStop;
// Reads the session's options. To call before any of them.
void PrepareRanges();
// native_detail.cpp
NativeFunction ModulesPass, PhasesState, WatchDetail;
// Calls who watches on this thread for steps without detail, if the last one told was of the other
// kind.
void TellDetailWatcher();
// native_measure.cpp
NativeFunction MeasureBegin, MeasureEnd;
// native_calls.cpp
NativeFunction CallsOptions, CallStart, CallResume, CallThrow, CallReturn, CallUnwind, CallLine;
NativeFunction WatchThread, WatchNewThread, UnwatchThread, SaySource;
// native_builtins.cpp
NativeFunction CallBuiltin, ReturnBuiltin;
void FindBuiltinTypes();
// What tells a function of C from others; nullptr: the callable is none.
const void* MethodOf(const PyObject* callable);
// native_calls.cpp
// The audit event sys.setprofile or sys.settrace: somebody takes the thread's hook.
void BeforeHookIsSet(const char* event);
// native_modules.cpp
// The audit event sys.setprofile: from then on a thread may have another profile function.
void NoteProfileChange();
// native_stacks.cpp
// (code id, line, file, name, ...): of the caller's callers, innermost first.
NativeFunction RecordStacks, PublishStacks, StopStacks, VariablesOf;
// native_memory.cpp
NativeFunction WatchMemory;
// native_module.cpp
NativeFunction IsCollecting, HoldsCupti, LeaveBusErrors, TakeBusErrors, SayProperty, SayReason,
    Options;

}  // namespace batchlight::inject
