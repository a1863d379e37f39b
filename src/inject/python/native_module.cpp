#include "inject/python/native_module.h"

#include "inject/buffer/facts.h"
#if BATCHLIGHT_GPU
#include "inject/cupti/collector.h"
#endif
#include "inject/python/native_function.h"
#include "inject/rt/control.h"
#include "inject/rt/cut_files.h"

namespace batchlight::inject {
namespace {

PyMethodDef g_functions[] = {
    {"collecting", reinterpret_cast<void*>(IsCollecting), kMethFastCall, nullptr},
    {"domain", reinterpret_cast<void*>(GetDomain), kMethFastCall, nullptr},
    {"push", reinterpret_cast<void*>(Push), kMethFastCall, nullptr},
    {"push_plain", reinterpret_cast<void*>(PushPlain), kMethFastCall, nullptr},
    {"pop", reinterpret_cast<void*>(Pop), kMethFastCall, nullptr},
    {"start", reinterpret_cast<void*>(Start), kMethFastCall, nullptr},
    {"start_plain", reinterpret_cast<void*>(StartPlain), kMethFastCall, nullptr},
    {"end", reinterpret_cast<void*>(End), kMethFastCall, nullptr},
    {"mark", reinterpret_cast<void*>(Mark), kMethFastCall, nullptr},
    {"mark_plain", reinterpret_cast<void*>(MarkPlain), kMethFastCall, nullptr},
    {"name_category", reinterpret_cast<void*>(NameCategory), kMethFastCall, nullptr},
    {"name_thread", reinterpret_cast<void*>(NameThread), kMethFastCall, nullptr},
    {"module_enter_by", reinterpret_cast<void*>(ModuleEnterBy), kMethFastCall, nullptr},
    {"module_calls_by", reinterpret_cast<void*>(ModuleCallsBy), kMethFastCall, nullptr},
    {"module_named", reinterpret_cast<void*>(ModuleNamed), kMethFastCall, nullptr},
    {"module_leave", reinterpret_cast<void*>(ModuleLeave), kMethFastCall, nullptr},
    {"phase_begin", reinterpret_cast<void*>(PhaseBegin), kMethFastCall, nullptr},
    {"phase_end", reinterpret_cast<void*>(PhaseEnd), kMethFastCall, nullptr},
    {"collected", reinterpret_cast<void*>(Collected), kMethFastCall, nullptr},
    {"modules_pass", reinterpret_cast<void*>(ModulesPass), kMethFastCall, nullptr},
    {"phases_state", reinterpret_cast<void*>(PhasesState), kMethFastCall, nullptr},
    {"watch_detail", reinterpret_cast<void*>(WatchDetail), kMethFastCall, nullptr},
    {"imported_file", reinterpret_cast<void*>(ImportedFile), kMethFastCall, nullptr},
    {"profile_start", reinterpret_cast<void*>(ProfileStart), kMethFastCall, nullptr},
    {"profile_stop", reinterpret_cast<void*>(ProfileStop), kMethFastCall, nullptr},
    {"measure_begin", reinterpret_cast<void*>(MeasureBegin), kMethFastCall, nullptr},
    {"measure_end", reinterpret_cast<void*>(MeasureEnd), kMethFastCall, nullptr},
    {"calls_options", reinterpret_cast<void*>(CallsOptions), kMethFastCall, nullptr},
    {"call_start", reinterpret_cast<void*>(CallStart), kMethFastCall, nullptr},
    {"call_resume", reinterpret_cast<void*>(CallResume), kMethFastCall, nullptr},
    {"call_throw", reinterpret_cast<void*>(CallThrow), kMethFastCall, nullptr},
    {"call_return", reinterpret_cast<void*>(CallReturn), kMethFastCall, nullptr},
    {"call_unwind", reinterpret_cast<void*>(CallUnwind), kMethFastCall, nullptr},
    {"call_line", reinterpret_cast<void*>(CallLine), kMethFastCall, nullptr},
    {"call_builtin", reinterpret_cast<void*>(CallBuiltin), kMethFastCall, nullptr},
    {"return_builtin", reinterpret_cast<void*>(ReturnBuiltin), kMethFastCall, nullptr},
    {"watch_thread", reinterpret_cast<void*>(WatchThread), kMethFastCall, nullptr},
    {"watch_new_thread", reinterpret_cast<void*>(WatchNewThread), kMethFastCall, nullptr},
    {"unwatch_thread", reinterpret_cast<void*>(UnwatchThread), kMethFastCall, nullptr},
    {"source", reinterpret_cast<void*>(SaySource), kMethFastCall, nullptr},
    {"operators_from_ranges", reinterpret_cast<void*>(OperatorsFromRanges), kMethFastCall, nullptr},
    {"holds_cupti", reinterpret_cast<void*>(HoldsCupti), kMethFastCall, nullptr},
    {"record_stacks", reinterpret_cast<void*>(RecordStacks), kMethFastCall, nullptr},
    {"publish_stacks", reinterpret_cast<void*>(PublishStacks), kMethFastCall, nullptr},
    {"variables_of", reinterpret_cast<void*>(VariablesOf), kMethFastCall, nullptr},
    {"stop_stacks", reinterpret_cast<void*>(StopStacks), kMethFastCall, nullptr},
    {"watch_memory", reinterpret_cast<void*>(WatchMemory), kMethFastCall, nullptr},
    {"leave_bus_errors", reinterpret_cast<void*>(LeaveBusErrors), kMethFastCall, nullptr},
    {"take_bus_errors", reinterpret_cast<void*>(TakeBusErrors), kMethFastCall, nullptr},
    {"property", reinterpret_cast<void*>(SayProperty), kMethFastCall, nullptr},
    {"reason", reinterpret_cast<void*>(SayReason), kMethFastCall, nullptr},
    {"options", reinterpret_cast<void*>(Options), kMethFastCall, nullptr},
};

// Steals `value`: callers pass fresh objects that they do not keep.
bool SetItem(PyObject* dict, const char* key, PyObject* value) {
  if (value == nullptr) return false;
  const bool done = g_py.PyDict_SetItemString(dict, key, value) == 0;
  g_py.Py_DecRef(value);
  return done;
}

}  // namespace

PyObject* IsCollecting(PyObject*, PyObject* const*, PySsize) {
  return g_py.PyBool_FromLong(Collecting() ? 1 : 0);
}

PyObject* HoldsCupti(PyObject*, PyObject* const*, PySsize) {
#if BATCHLIGHT_GPU
  return g_py.PyBool_FromLong(cupti::HoldsCupti() ? 1 : 0);
#else
  return g_py.PyBool_FromLong(0);
#endif
}

PyObject* LeaveBusErrors(PyObject*, PyObject* const*, PySsize) {
  return g_py.PyBool_FromLong(DieOfCutFiles() ? 1 : 0);
}

PyObject* TakeBusErrors(PyObject*, PyObject* const*, PySsize) {
  SurviveCutFiles();
  return NewNone();
}

PyObject* SayProperty(PyObject*, PyObject* const* arguments, PySsize count) {
  const PyText key(Argument(arguments, count, 0));
  const PyText value(Argument(arguments, count, 1));
  Guard guard;
  if (guard && Control() != nullptr) Property(guard, key.data(), value.data());
  return NewNone();
}

PyObject* SayReason(PyObject*, PyObject* const* arguments, PySsize count) {
  const PyText feature(Argument(arguments, count, 0));
  const PyText text(Argument(arguments, count, 1));
  Guard guard;
  if (guard && Control() != nullptr) Reason(guard, feature.data(), text.data());
  return NewNone();
}

PyObject* Options(PyObject*, PyObject* const*, PySsize) {
  const format::ControlPage* control = Control();
  PyObject* options = g_py.PyDict_New();
  if (options == nullptr) return nullptr;
  const bool done =
      SetItem(options, "trace", g_py.PyLong_FromUnsignedLongLong(control->trace)) &&
      SetItem(options, "python_path", g_py.PyUnicode_DecodeFSDefault(control->python_path)) &&
      SetItem(options, "functions_trace",
              g_py.PyUnicode_DecodeFSDefault(control->functions_trace)) &&
      SetItem(options, "extra", g_py.PyUnicode_DecodeFSDefault(control->extra));
  if (done) return options;
  g_py.Py_DecRef(options);
  return nullptr;
}

bool AddNativeModule() {
  PrepareRanges();
  constexpr char kName[] = "_batchlight_native";
  PyObject* module = g_py.PyModule_New(kName);
  if (module == nullptr) return false;
  PyObject* dict = g_py.PyModule_GetDict(module);  // borrowed
  PyObject* module_name = g_py.PyUnicode_FromString(kName);
  bool done = module_name != nullptr;
  for (PyMethodDef& function : g_functions) {
    done = done &&
           SetItem(dict, function.name, g_py.PyCFunction_NewEx(&function, nullptr, module_name));
  }
  done = done && g_py.PyDict_SetItemString(g_py.PyImport_GetModuleDict(), kName, module) == 0;
  if (module_name != nullptr) g_py.Py_DecRef(module_name);
  g_py.Py_DecRef(module);
  return done;
}

}  // namespace batchlight::inject
