// Checks that Python's frames lie where they are expected, by a stack that Python code describes
// itself, and starts to record stacks, or tells the tool where to sample them.
#include <dlfcn.h>

#include <cstring>

#include "cpython/text_object.h"
#include "inject/buffer/facts.h"
#include "inject/python/frame_address.h"
#include "inject/python/native_function.h"
#include "inject/rt/control.h"
#include "inject/rt/text.h"
#include "inject/stacks/thread_stacks.h"

namespace batchlight::inject {
namespace {

using cpython::FrameLayout;
using stacks::FrameSource;
using stacks::RawFrame;

stacks::RawStack g_walked;  // used once, with the GIL held

bool IsText(const FrameLayout& layout, const void* object, PyObject* expected) {
  char buffer[cpython::kTextBytes];
  const cpython::TextView found = cpython::ReadText(layout, object, buffer);
  const PyText text(expected);
  return found.size == text.size() && std::memcmp(found.data, text.data(), found.size) == 0;
}

// Arguments as RecordStacks() takes them.
bool IsFrame(const FrameLayout& layout, const RawFrame& frame, PyObject* const* expected) {
  return reinterpret_cast<uint64_t>(frame.code) == AsNumber(expected[0]) &&
         stacks::LineOf(layout, frame) == AsNumber(expected[1]) &&
         IsText(layout, cpython::Load<const void*>(frame.code, layout.code_file), expected[2]) &&
         IsText(layout, cpython::Load<const void*>(frame.code, layout.code_name), expected[3]);
}

// nullptr, or why stacks cannot be recorded.
const char* FindSource(PyObject* const* arguments, PySsize count, FrameSource* source) {
  const char* why = nullptr;
  source->runtime = dlsym(RTLD_DEFAULT, "_PyRuntime");
  source->layout = cpython::FindFrameLayout(PythonMinorVersion(), source->runtime, &why);
  if (source->layout == nullptr) return why;
  source->thread_state =
      reinterpret_cast<void* (*)()>(dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState"));
  source->code_type = dlsym(RTLD_DEFAULT, "PyCode_Type");
  if (source->thread_state == nullptr || source->code_type == nullptr) {
    return "this Python does not export what tells a thread's frames";
  }
  constexpr PySsize kPerFrame = 4;
  const void* state = source->thread_state();
  const bool walked = state != nullptr &&
                      stacks::WalkFrames(*source, stacks::InnermostFrame(*source, state), g_walked);
  bool same = walked && static_cast<PySsize>(g_walked.count) == 1 + count / kPerFrame;
  for (PySsize i = 0; same && i < count / kPerFrame; ++i) {
    same = IsFrame(*source->layout, g_walked.frames[1 + i], arguments + i * kPerFrame);
  }
  return same ? nullptr : "the frames of this Python are not where those of its version lie";
}

}  // namespace

PyObject* RecordStacks(PyObject*, PyObject* const* arguments, PySsize count) {
  FrameSource source{};
  const char* why = FindSource(arguments, count, &source);
  Guard guard;
  if (!guard) return g_py.PyBool_FromLong(0);
  if (why != nullptr) {
    Reason(guard, "python-lines", why);
  } else {
    stacks::Start(source, Traces(format::kTraceLines) || Traces(format::kTraceCallStacks));
  }
  return g_py.PyBool_FromLong(why == nullptr ? 1 : 0);
}

PyObject* PublishStacks(PyObject*, PyObject* const* arguments, PySsize count) {
  FrameSource source{};
  const char* why = FindSource(arguments, count, &source);
  Guard guard;
  if (!guard) return g_py.PyBool_FromLong(0);
  if (why == nullptr) why = PublishFrames(source);
  if (why != nullptr) Reason(guard, "python-sampling", why);
  return g_py.PyBool_FromLong(why == nullptr ? 1 : 0);
}

// The copy of a frame's variables that f_locals made before Python 3.13, without making one.
PyObject* VariablesOf(PyObject*, PyObject* const* arguments, PySsize count) {
  const char* why = nullptr;
  const int minor = PythonMinorVersion();
  if (minor >= 13) return NewNone();
  const FrameLayout* layout = cpython::FindFrameLayout(minor, nullptr, &why);
  const void* frame = Argument(arguments, count, 0);
  if (layout == nullptr || cpython::Load<const void*>(frame, layout->object_type) !=
                               dlsym(RTLD_DEFAULT, "PyFrame_Type")) {
    return g_py.PyBool_FromLong(0);
  }
  if (layout->object_frame != 0) frame = cpython::Load<const void*>(frame, layout->object_frame);
  auto* const copy = cpython::Load<PyObject*>(frame, layout->frame_variables);
  if (copy == nullptr) return NewNone();
  g_py.Py_IncRef(copy);
  return copy;
}

PyObject* StopStacks(PyObject*, PyObject* const*, PySsize) {
  stacks::Stop();
  return NewNone();
}

}  // namespace batchlight::inject
