// Records every operator of PyTorch: a callback on at::RecordFunction, compiled on first use
// against the PyTorch that the program runs (its C++ interface changes with every version, so no
// binary can be shipped). Built by python/batchlight/_bridge/_torch_library.py.
//
// Works with PyTorch 1.13 and later. A callback must not throw, take the GIL or allocate: it runs
// around every operator, on every thread, also in forked workers.
#include <ATen/record_function.h>
#include <c10/core/ScalarTypeToTypeMeta.h>
#include <c10/core/TensorImpl.h>
#include <c10/core/UndefinedTensorImpl.h>

#include <cstring>
#include <memory>

#include "native_api.h"

extern "C" __attribute__((weak)) const batchlight_native_api_t* batchlight_native_api(void);

namespace {

const batchlight_native_api_t* g_api = nullptr;

// Marks an operator whose start was recorded: the end callback must then record the end, even if
// collection was switched in between. One object for all operators, never freed.
struct Recorded final : at::ObserverContext {
  static void operator delete(void*) {}
};
Recorded g_recorded;

// The binary description of an operator's inputs, under OpBegin in FORMAT.md.
class Inputs {
 public:
  void Add(const c10::IValue& value) {
    if (end_ - at_ < kRoomForOne) return;
    if (value.isTensor()) {
      AddTensor(value);
    } else if (value.isInt()) {
      Tag(kInteger);
      Put(value.toInt());
    } else if (value.isBool()) {
      Tag(kInteger);
      Put(value.toBool() ? 1 : 0);
    } else if (value.isList()) {
      AddList(value);
    } else {
      Tag(kOther);
    }
  }

  const void* data() const { return buffer_; }
  size_t size() const { return static_cast<size_t>(at_ - buffer_); }

 private:
  enum : unsigned char { kMaxRank = 250, kIntegers, kInteger, kTensors, kUndefined, kOther };
  static constexpr int kMaxItems = 250;
  static constexpr int kRoomForOne = 64;

  void Tag(int tag) { *at_++ = static_cast<char>(tag); }
  void Put(int64_t number) {
    std::memcpy(at_, &number, sizeof number);
    at_ += sizeof number;
  }
  bool Room(size_t bytes) const { return static_cast<size_t>(end_ - at_) >= bytes; }

  void AddTensor(const c10::IValue& value) {
    if (!value.isTensor()) return Tag(kOther);
    const c10::TensorImpl* tensor = value.unsafeToTensorImpl();
    if (tensor == c10::UndefinedTensorImpl::singleton()) return Tag(kUndefined);
    if (tensor->key_set().has_any(kNotAsked) || tensor->has_symbolic_sizes_strides()) {
      return Tag(kOther);
    }
    const c10::IntArrayRef sizes = tensor->sizes();
    if (sizes.size() > kMaxRank || !Room(2 + 8 * sizes.size())) return Tag(kOther);
    Tag(static_cast<int>(sizes.size()));
    Tag(static_cast<int>(c10::typeMetaToScalarType(tensor->dtype())));
    for (const int64_t size : sizes) Put(size);
  }

  // The first item tells what a list holds; asking the list itself is slow, since it compares
  // types.
  void AddList(const c10::IValue& list) {
    const auto items = list.toListRef();
    if (items.empty() ? list.isTensorList() : items[0].isTensor()) {
      AddItems(kTensors, items, [this](const c10::IValue& item) { AddTensor(item); });
    } else if (items.empty() ? list.isIntList() : items[0].isInt()) {
      AddItems(kIntegers, items, [this](const c10::IValue& item) { Put(item.toInt()); });
    } else {
      Tag(kOther);
    }
  }

  // Writes as many items as there is room for; the count is filled in once it is known.
  template <class AddItem>
  void AddItems(int tag, c10::ArrayRef<c10::IValue> items, AddItem add_item) {
    Tag(tag);
    char* const count_at = at_++;
    int count = 0;
    for (const c10::IValue& item : items) {
      if (count == kMaxItems || !Room(kRoomForOne)) break;
      add_item(item);
      ++count;
    }
    *count_at = static_cast<char>(count);
  }

  // Tensors of Python subclasses (fake and distributed ones, jagged ones) answer in Python, nested
  // ones throw; so do those with symbolic sizes, in torch.compile's tracing.
  static constexpr c10::DispatchKeySet kNotAsked =
      c10::DispatchKeySet(c10::DispatchKey::Python) |
      c10::DispatchKeySet(c10::DispatchKey::NestedTensor);

  char buffer_[4096];
  char* at_ = buffer_;
  char* const end_ = buffer_ + sizeof buffer_;
};

std::unique_ptr<at::ObserverContext> Begin(const at::RecordFunction& function, const void* inputs,
                                           size_t inputs_bytes) {
  const at::RecordScope scope = function.scope();
  const int recorded =
      g_api->op_begin(function.name(), function.seqNr(), static_cast<uint32_t>(scope),
                      static_cast<uint32_t>(function.forwardThreadId()), inputs, inputs_bytes);
  if (recorded == 0) return nullptr;
  if (scope == at::RecordScope::USER_SCOPE && function.isAsync()) {
    // Ends on another thread at some other time (collectives), so it is recorded as an instant.
    g_api->op_end();
    return nullptr;
  }
  return std::unique_ptr<at::ObserverContext>(&g_recorded);
}

std::unique_ptr<at::ObserverContext> OnStart(const at::RecordFunction& function) {
  return Begin(function, nullptr, 0);
}

std::unique_ptr<at::ObserverContext> OnStartWithShapes(const at::RecordFunction& function) {
  if (g_api->collecting() == 0) return nullptr;
  Inputs inputs;
  try {
    for (const c10::IValue& value : function.inputs()) inputs.Add(value);
  } catch (...) {
    // A kind of tensor without sizes: only the inputs before it are recorded.
  }
  return Begin(function, inputs.data(), inputs.size());
}

void OnEnd(const at::RecordFunction&, at::ObserverContext* recorded) {
  if (recorded != nullptr) g_api->op_end();
}

// Between windows the callback is disabled; otherwise PyTorch would prepare for it around every
// operator.
at::CallbackHandle g_callback{};

void OnCollecting(int collecting) {
  collecting != 0 ? at::reenableCallback(g_callback) : at::disableCallback(g_callback);
}

}  // namespace

// Starts recording, once per process. 0 if it does.
extern "C" __attribute__((visibility("default"))) int batchlight_torch_ops_start(int shapes) {
  if (g_api != nullptr) return 0;
  if (batchlight_native_api == nullptr) return 1;
  const batchlight_native_api_t* api = batchlight_native_api();
  if (api == nullptr || api->version != BATCHLIGHT_NATIVE_API_VERSION) return 1;
  g_api = api;
  g_callback = at::addGlobalCallback(
      at::RecordFunctionCallback(shapes != 0 ? OnStartWithShapes : OnStart, OnEnd)
          .needsInputs(shapes != 0)
          .scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION,
                   at::RecordScope::TORCHSCRIPT_FUNCTION, at::RecordScope::CUSTOM_CLASS,
                   at::RecordScope::USER_SCOPE}));
  if (api->size_bytes >= sizeof *api) api->watch(OnCollecting);
  return 0;
}
