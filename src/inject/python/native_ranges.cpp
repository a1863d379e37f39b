// Ranges and marks of Python programs, through the same functions as NVTX's own, so that filters,
// levels and captures by range work alike.
#include <atomic>
#include <cstring>

#include "inject/collect/capture.h"
#include "inject/nvtx/capture_range.h"
#include "inject/nvtx/names.h"
#include "inject/nvtx/ranges.h"
#include "inject/nvtx/registry.h"
#include "inject/python/native_function.h"
#include "inject/rt/control.h"

namespace batchlight::inject {
namespace {

// Domains that Python asked for: it refers to them by number, 0 = the default domain. Written under
// RegistryLock().
constexpr size_t kMaxDomains = 1024;
const nvtx::Domain* g_domains[kMaxDomains];
std::atomic<size_t> g_domain_count{1};
bool g_on = false;  // --trace has nvtx

const nvtx::Domain* DomainOf(PyObject* number) {
  if (IsNone(number)) return nullptr;
  const uint64_t index = AsNumber(number);
  return index < g_domain_count.load(std::memory_order_acquire) ? g_domains[index] : nullptr;
}

// `is_new`: it had none before. 0: there are no more.
size_t NumberOf(const nvtx::Domain* domain, bool* is_new) {
  Guard guard;
  if (!guard) return 0;
  Locked locked(nvtx::RegistryLock());
  if (!locked) return 0;
  const size_t count = g_domain_count.load(std::memory_order_relaxed);
  for (size_t i = 1; i < count; ++i) {
    if (g_domains[i] == domain) return i;
  }
  if (count == kMaxDomains) return 0;
  g_domains[count] = domain;
  g_domain_count.store(count + 1, std::memory_order_release);
  *is_new = true;
  return count;
}

void SetPayload(PyObject* value, nvtx::Event& event) {
  if (IsInteger(value)) {
    int overflow = 0;
    long long number = g_py.PyLong_AsLongLongAndOverflow(value, &overflow);
    event.payload_type = nvtx::kInt64;
    if (overflow > 0) {  // beyond 64 bits: the low ones
      number = static_cast<long long>(AsNumber(value));
      event.payload_type = nvtx::kUint64;
    }
    event.payload = static_cast<uint64_t>(number);
  } else if (g_py.PyObject_IsInstance(value, g_py.PyFloat_Type) == 1) {
    const double number = g_py.PyFloat_AsDouble(value);
    event.payload_type = nvtx::kDouble;
    std::memcpy(&event.payload, &number, sizeof number);
  }
}

// (message, color, domain, category, payload) as an event; `message` must outlive it.
nvtx::Event MakeEvent(const PyText& message, PyObject* const* arguments, PySsize count) {
  nvtx::Event event;
  event.message = nvtx::MakeName(message.data(), message.size());
  // The nvtx package registers every message, so --nvtx-capture finds these as they are.
  event.flags = nvtx::kFlagRegistered;
  PyObject* const color = Argument(arguments, count, 1);
  if (!IsNone(color)) {
    event.color = static_cast<uint32_t>(AsNumber(color));
    event.flags |= nvtx::kFlagColor;
  }
  event.domain = DomainOf(Argument(arguments, count, 2));
  PyObject* const category = Argument(arguments, count, 3);
  if (!IsNone(category)) event.category = static_cast<uint32_t>(AsNumber(category));
  PyObject* const payload = Argument(arguments, count, 4);
  if (!IsNone(payload)) SetPayload(payload, event);
  return event;
}

nvtx::Event PlainEvent(const PyText& message) {
  nvtx::Event event;
  event.message = nvtx::MakeName(message.data(), message.size());
  return event;
}

}  // namespace

void PrepareRanges() {
  g_on = Traces(format::kTraceNvtx);
  if (!g_on) return;
  nvtx::ReadDomainFilter();
  nvtx::ReadCaptureRange();
}

PyObject* GetDomain(PyObject*, PyObject* const* arguments, PySsize count) {
  const PyText name(Argument(arguments, count, 0));
  if (!g_on || name.size() == 0) return g_py.PyLong_FromLongLong(0);
  const nvtx::Domain* domain = nvtx::RegisterDomain(name.data(), name.size());
  if (domain == nullptr) return g_py.PyLong_FromLongLong(0);
  bool is_new = false;
  const size_t number = NumberOf(domain, &is_new);
  if (is_new) nvtx::SayDomain(domain, true);
  return g_py.PyLong_FromLongLong(static_cast<long long>(number));
}

PyObject* Push(PyObject*, PyObject* const* arguments, PySsize count) {
  if (!g_on) return NewNone();
  const PyText message(Argument(arguments, count, 0));
  return g_py.PyLong_FromLongLong(nvtx::PushEvent(MakeEvent(message, arguments, count)));
}

PyObject* PushPlain(PyObject*, PyObject* const* arguments, PySsize count) {
  if (!g_on) return NewNone();
  const PyText message(Argument(arguments, count, 0));
  return g_py.PyLong_FromLongLong(nvtx::PushEvent(PlainEvent(message)));
}

PyObject* Pop(PyObject*, PyObject* const* arguments, PySsize count) {
  if (!g_on) return NewNone();
  const nvtx::Domain* domain = DomainOf(Argument(arguments, count, 0));
  return g_py.PyLong_FromLongLong(domain == nullptr ? nvtx::PopDefault()
                                                    : nvtx::Pop(domain, nullptr, 0));
}

PyObject* Start(PyObject*, PyObject* const* arguments, PySsize count) {
  if (!g_on) return g_py.PyLong_FromLongLong(0);
  const PyText message(Argument(arguments, count, 0));
  return g_py.PyLong_FromUnsignedLongLong(nvtx::StartRange(MakeEvent(message, arguments, count)));
}

PyObject* StartPlain(PyObject*, PyObject* const* arguments, PySsize count) {
  if (!g_on) return g_py.PyLong_FromLongLong(0);
  const PyText message(Argument(arguments, count, 0));
  return g_py.PyLong_FromUnsignedLongLong(nvtx::StartRange(PlainEvent(message)));
}

PyObject* End(PyObject*, PyObject* const* arguments, PySsize count) {
  if (g_on) nvtx::EndRange(nullptr, AsNumber(Argument(arguments, count, 0)), nullptr, 0);
  return NewNone();
}

PyObject* Mark(PyObject*, PyObject* const* arguments, PySsize count) {
  if (!g_on) return NewNone();
  const PyText message(Argument(arguments, count, 0));
  nvtx::MarkEvent(MakeEvent(message, arguments, count));
  return NewNone();
}

PyObject* MarkPlain(PyObject*, PyObject* const* arguments, PySsize count) {
  if (!g_on) return NewNone();
  const PyText message(Argument(arguments, count, 0));
  nvtx::MarkEvent(PlainEvent(message));
  return NewNone();
}

PyObject* NameCategory(PyObject*, PyObject* const* arguments, PySsize count) {
  if (!g_on) return NewNone();
  const PyText name(Argument(arguments, count, 2));
  nvtx::NameCategory(DomainOf(Argument(arguments, count, 0)),
                     static_cast<uint32_t>(AsNumber(Argument(arguments, count, 1))), name.data(),
                     name.size());
  return NewNone();
}

// torch.cuda.profiler.start() and ours mean the same to -c cudaProfilerApi.
PyObject* ProfileStart(PyObject*, PyObject* const*, PySsize) {
  const format::ControlPage* control = Control();
  if (control != nullptr && control->trigger == format::CaptureTrigger::kCudaProfilerApi) {
    BeginCapture(CaptureBy::kRange);
  }
  return NewNone();
}

PyObject* ProfileStop(PyObject*, PyObject* const*, PySsize) {
  const format::ControlPage* control = Control();
  if (control != nullptr && control->trigger == format::CaptureTrigger::kCudaProfilerApi) {
    EndCapture(CaptureBy::kRange);
  }
  return NewNone();
}

}  // namespace batchlight::inject
