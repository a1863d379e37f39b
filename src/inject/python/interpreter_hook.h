// Gets the library's Python half running inside a CPython of any version, before the first line of
// the program, without environment variables, site hooks or polling.
//
// The way in is an audit hook: PySys_AddAuditHook may be called before the interpreter starts, and
// CPython calls the hook, with the GIL held, when it is about to run a script, a module, -c or
// stdin. That is after `site`, and it works under -I and -S. In a program that embeds Python, it is
// before the first code or import that the program itself asks for.
#pragma once

#include "inject/rt/guard.h"

namespace batchlight::inject {

// From the library's constructor. Does nothing without Python, or if Python is not traced.
void InstallInterpreterHook(const Guard& guard);

// At the end of the process: says that there was a Python after all, too late for the hook.
void SayIfPythonCameLate(const Guard& guard);

}  // namespace batchlight::inject
