// The module `_batchlight_native`: what the Python package and the bridge call. Not an extension
// module on disk; made here, out of the functions of g_py.
//
// Function(arguments): what it records. A trailing argument may be left out or None.
//   collecting()                          whether events are being recorded
//   domain(name) -> number of an NVTX domain, for the calls below; 0 = the default domain
//   push(message, color, domain, category, payload) -> level; pop(domain) -> level
//   start(message, color, domain, category, payload) -> id; end(id)
//   mark(message, color, domain, category, payload)
//   push_plain(message), start_plain(message), mark_plain(message): as a C program's, whose strings
//       are not registered with NVTX (it matters to --nvtx-capture)
//   name_category(domain, category, name), name_thread(name)
//   module_enter_by(names) -> function(module): a module's call begins. `names` maps id(module) to
//       (path, class, ...). None: it goes on; True, False: it is the outermost one of its thread,
//       which is recorded or passes through; 0: `names` has it not, and module_named() must be
//       called. Each is followed by module_leave()
//   module_calls_by(wrapper, forward, names, watching, looking, is_grad_enabled, getprofile) ->
//       whether calls of the wrapper, a function that does the same, are recorded without its
//       bytecode from now on, but for those that are rare: of modules without a name, all while the
//       list `watching` holds something or PyTorch's own profiler looks at Python's calls,
//       outermost ones while `looking` holds something, or of a module that does not learn.
//       Of the wrapper that this was called for last
//   module_named(path, class) -> None or True, as above
//   phase_begin(number, name), phase_end(); imported_file(module): within the phase that imports it
//   modules_pass() -> memoryview of one byte: 1 while calls of modules pass through unrecorded
//   phases_state(number) -> memoryview of one byte: odd unless phases of this kind need not be
//       said, because nothing is collected
//   watch_detail(function): function(True or False) when steps with or without detail begin
//   calls_options(calls, thin_calls, lines_of, disable): what the next ones count. `lines_of(code)`
//       is how many lines of a code object to time, from its first; `disable` is what tells
//       sys.monitoring that a place need not be watched
//   call_start, call_resume, call_throw, call_return, call_unwind, call_line: callbacks of
//       sys.monitoring
//   watch_thread(), unwatch_thread(): before Python 3.12, hooks of the calling thread;
//       watch_new_thread(frame, event, argument): for threading.setprofile and settrace
//   source(file, name, first_line, text): of a function whose lines are timed
//   operators_from_ranges(): PyTorch's ranges around operators are operators (operator_range.h)
//   profile_start(), profile_stop(): --capture-range=cudaProfilerApi
//   record_stacks(code id, line, file, name, ...) -> whether Python stacks are recorded from here
//   on:
//       only if those of the callers are found; stop_stacks()
//   publish_stacks(as above) -> whether the tool knows where to sample this process's stacks
//   variables_of(frame) -> the copy that f_locals made of its variables; None: it has made none;
//       False: not known
//   property(key, value), reason(feature, text)
//   options() -> dict of what the control page says
#pragma once

namespace batchlight::inject {

// Puts the module into sys.modules. False: a Python exception is pending.
bool AddNativeModule();

}  // namespace batchlight::inject
