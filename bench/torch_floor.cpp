// What PyTorch itself takes to call a callback around an operator: this one does nothing. Built
// like the operator recorder, by bench/torch_ops_bench.py and bench/train_bench.py.
#include <ATen/record_function.h>

namespace {

// A context, as the recorder gives one, so that PyTorch's part is the same.
struct Kept final : at::ObserverContext {
  static void operator delete(void*) {}
};
Kept g_kept;

std::unique_ptr<at::ObserverContext> OnStart(const at::RecordFunction&) {
  return std::unique_ptr<at::ObserverContext>(&g_kept);
}
void OnEnd(const at::RecordFunction&, at::ObserverContext*) {}

at::CallbackHandle g_handle = 0;

void Enable(at::CallbackHandle handle, bool on) {
  on ? at::reenableCallback(handle) : at::disableCallback(handle);
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) void torch_floor_start(int inputs) {
  g_handle = at::addGlobalCallback(at::RecordFunctionCallback(OnStart, OnEnd)
                                       .needsInputs(inputs != 0)
                                       .scopes({at::RecordScope::FUNCTION}));
}

__attribute__((visibility("default"))) void torch_floor_enable(int on) {
  Enable(g_handle, on != 0);
}

// The recorder's callback: PyTorch numbers them, and it was added before this one.
__attribute__((visibility("default"))) void torch_recorder_enable(int on) {
  Enable(g_handle - 1, on != 0);
}

}  // extern "C"
