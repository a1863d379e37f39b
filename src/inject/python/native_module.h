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
//   module_begin(path, class) -> True of the outermost call of a thread, module_end()
//   phase_begin(number, name), phase_end()
//   operators_from_ranges(): PyTorch's ranges around operators are operators (operator_range.h)
//   profile_start(), profile_stop(): --capture-range=cudaProfilerApi
//   property(key, value), reason(feature, text)
//   options() -> dict of what the control page says
#pragma once

namespace batchlight::inject {

// Puts the module into sys.modules. False: a Python exception is pending.
bool AddNativeModule();

}  // namespace batchlight::inject
