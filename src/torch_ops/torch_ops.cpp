// Records every operator of PyTorch: a callback on at::RecordFunction, compiled on first use
// against the PyTorch that the program runs (its C++ interface changes with every version, so no
// binary can be shipped). Built by python/batchlight/_bridge/_torch_library.py.
//
// Works with PyTorch 1.13 and later. A callback must not throw, take the GIL or allocate: it runs
// around every operator, on every thread, also in forked workers.
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/record_function.h>
#include <c10/core/ScalarTypeToTypeMeta.h>
#include <c10/core/TensorImpl.h>
#include <c10/core/UndefinedTensorImpl.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "native_api.h"
#include "torch_operands.h"

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

// What masks attention is given (scaled_dot_product_attention). Seen by a callback of its own that
// asks for inputs, which is there for a few steps only (Masks of _torch_operators.py): PyTorch puts
// the inputs of every operator into a list for it, about as dear as recording the operator. An
// observer sees what a wrapped function or a mode in Python would change: torch.compile knows the
// function by its identity and looks for modes, and autocast, nn.MultiheadAttention and subclasses
// of the program's lead here all the same. What torch.compile has compiled calls other operators,
// of which nothing is said.
//
// Whether a mask is causal is told by rows of it, copied in the order of the stream without waiting
// for the GPU, and looked at a step later. Until the step ends the memory of masks is held, 32 MiB
// at most, but no tensor of the program's.
class AttentionMasks {
 public:
  void See(c10::ArrayRef<const c10::IValue> inputs) {
    if (inputs.size() < 6 || !at::GradMode::is_enabled()) return;
    for (int i = 0; i < 3; ++i) {
      if (!IsPlain(inputs[i])) return;  // tracing, not computing
    }
    const std::unique_lock<std::mutex> lock = Lock();
    if (calls_ == kMostCalls) return;
    ++calls_;
    if (!inputs[3].isTensor()) return;
    if (inputs[3].unsafeToTensorImpl() == c10::UndefinedTensorImpl::singleton()) return;
    if (!IsPlain(inputs[3]) || !IsForAll(inputs)) {
      ++others_;
      return;
    }
    Keep(*inputs[3].unsafeToTensorImpl());
  }

  // Ends a step. `copies`: rows of its masks are to be copied. Whether a GPU copies.
  bool Take(bool copies) {
    const std::unique_lock<std::mutex> lock = Lock();
    std::vector<Mask> masks;
    masks.swap(step_);
    held_bytes_ = 0;
    bool on_gpu = false;
    // Nobody is to notice: not autograd, not the recording.
    const at::DisableRecordFunctionGuard unrecorded;
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    for (Mask& mask : masks) {
      if (!copies || !IsThere(mask.tensor)) {
        unknown_ += mask.calls;
        continue;
      }
      on_gpu = on_gpu || !mask.tensor.is_cpu();
      mask.tensor = SomeRows(mask.tensor);
      taken_.push_back(std::move(mask));
    }
    return on_gpu;
  }

  // The copies are there: looks at them.
  void Judge() {
    const std::unique_lock<std::mutex> lock = Lock();
    for (const Mask& mask : taken_) (IsCausal(mask.tensor) ? causal_ : others_) += mask.calls;
    taken_.clear();
  }

  // "calls causal unknown others positions type shape"; unknown are also those of which no copy is
  // there yet.
  void Tell(char* text, size_t size) {
    const std::unique_lock<std::mutex> lock = Lock();
    uint64_t unknown = unknown_;
    for (const Mask& mask : step_) unknown += mask.calls;
    for (const Mask& mask : taken_) unknown += mask.calls;
    text[0] = '\0';
    if (causal_ + unknown == 0) return;
    std::snprintf(text, size, "%llu %llu %llu %llu %lld %s", Count(calls_), Count(causal_),
                  Count(unknown), Count(others_), static_cast<long long>(positions_),
                  kind_.c_str());
  }

 private:
  struct Mask {
    at::Tensor tensor;  // of the mask's memory; then some of its rows
    uint64_t calls = 0;
  };
  static constexpr uint64_t kMostCalls = 4096;
  static constexpr size_t kMostMasks = 16;                // of a step
  static constexpr size_t kMostBytes = 32 * 1024 * 1024;  // held until a step ends
  static constexpr int64_t kFewestPositions = 128;        // fused attention skips blocks of these
  static constexpr int64_t kRows = 8;
  static constexpr float kClosed = -1e4;  // added to a score: it counts for nothing

  static unsigned long long Count(uint64_t count) { return count; }

  // Not waited for: a process that was forked while a thread had it would wait forever.
  std::unique_lock<std::mutex> Lock() {
    std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock()) throw std::runtime_error("another thread looks");
    return lock;
  }

  // Tensors that only have numbers: not those of tracing, vmap, Python's subclasses or graphs of
  // functions.
  static bool IsPlain(const c10::IValue& value) {
    if (!value.isTensor()) return false;
    const c10::TensorImpl* tensor = value.unsafeToTensorImpl();
    return tensor != c10::UndefinedTensorImpl::singleton() &&
           !tensor->key_set().has_any(kNotPlain) && !tensor->has_symbolic_sizes_strides() &&
           tensor->layout() == c10::kStrided && (tensor->is_cpu() || tensor->is_cuda()) &&
           tensor->dim() >= 2;
  }

  // Whether it is one for all samples and heads, and for as many keys as queries.
  static bool IsForAll(c10::ArrayRef<const c10::IValue> inputs) {
    const c10::TensorImpl *query = inputs[0].unsafeToTensorImpl(),
                          *key = inputs[1].unsafeToTensorImpl(),
                          *value = inputs[2].unsafeToTensorImpl(),
                          *mask = inputs[3].unsafeToTensorImpl();
    const int64_t positions = query->size(-2);
    if (positions < kFewestPositions || key->size(-2) != positions) return false;
    if (query->size(-1) > 256 || value->size(-1) != query->size(-1))
      return false;  // more than FlashAttention takes
    if (mask->size(-1) != positions || mask->size(-2) != positions) return false;
    if (mask->requires_grad() || mask->device_type() != query->device_type()) return false;
    for (int64_t i = 0; i + 2 < mask->dim(); ++i) {
      if (mask->size(i) != 1 && mask->stride(i) != 0) return false;
    }
    return true;
  }

  void Keep(const c10::TensorImpl& mask) {
    for (Mask& known : step_) {
      const c10::TensorImpl& other = *known.tensor.unsafeGetTensorImpl();
      if (other.storage().unsafeGetStorageImpl() == mask.storage().unsafeGetStorageImpl() &&
          other.storage_offset() == mask.storage_offset() && other.sizes() == mask.sizes() &&
          other.strides() == mask.strides() && other.dtype() == mask.dtype()) {
        ++known.calls;
        return;
      }
    }
    if (kind_.empty()) Describe(mask);
    const size_t bytes = mask.storage().nbytes();
    // A GPU copies rows in one piece, or takes memory to make them so.
    const bool can_copy = mask.is_cpu() || mask.stride(-1) == 1;
    if (step_.size() == kMostMasks || bytes > kMostBytes - held_bytes_ || !can_copy) {
      ++unknown_;
      return;
    }
    held_bytes_ += bytes;
    step_.push_back({at::Tensor(mask.shallow_copy_and_detach(c10::VariableVersion(0), false)), 1});
  }

  void Describe(const c10::TensorImpl& mask) {
    positions_ = mask.size(-1);
    kind_ = c10::toString(c10::typeMetaToScalarType(mask.dtype()));
    for (int64_t i = 0; i < mask.dim(); ++i) {
      kind_ += (i == 0 ? ' ' : 'x') + std::to_string(mask.size(i));
    }
  }

  // The program may have freed its memory (a storage of size 0).
  static bool IsThere(const at::Tensor& mask) {
    const int64_t size = mask.size(-1);
    const int64_t last =
        mask.storage_offset() + (size - 1) * (mask.stride(-2) + mask.stride(-1)) + 1;
    return mask.storage().data() != nullptr &&
           static_cast<size_t>(last) * mask.element_size() <= mask.storage().nbytes();
  }

  static int64_t RowAt(int64_t place, int64_t size) { return place * (size - 1) / (kRows - 1); }

  static at::Tensor SomeRows(at::Tensor mask) {
    while (mask.dim() > 2) mask = mask.select(0, 0);
    const int64_t size = mask.size(1);
    const at::Tensor rows = at::empty(
        {kRows, size}, at::TensorOptions().dtype(mask.scalar_type()).pinned_memory(!mask.is_cpu()));
    for (int64_t row = 0; row < kRows; ++row) {
      rows.select(0, row).copy_(mask.select(0, RowAt(row, size)), /*non_blocking=*/true);
    }
    return rows;
  }

  template <class Number, class IsOpen, class IsClosed>
  static bool IsCausal(const at::Tensor& rows, IsOpen is_open, IsClosed is_closed) {
    const auto* numbers = static_cast<const Number*>(rows.data_ptr());
    const int64_t size = rows.size(1);
    for (int64_t row = 0; row < kRows; ++row, numbers += size) {
      const int64_t own = RowAt(row, size);
      for (int64_t key = 0; key < size; ++key) {
        if (!(key <= own ? is_open(numbers[key]) : is_closed(numbers[key]))) return false;
      }
    }
    return true;
  }

  template <class Number>
  static bool IsCausalSum(const at::Tensor& rows) {
    return IsCausal<Number>(
        rows, [](Number score) { return static_cast<float>(score) == 0; },
        [](Number score) { return static_cast<float>(score) <= kClosed; });
  }

  // A position sees itself and those before it: by true and false, or by what is added to its
  // scores.
  static bool IsCausal(const at::Tensor& rows) {
    switch (rows.scalar_type()) {
      case c10::ScalarType::Bool:
        return IsCausal<unsigned char>(
            rows, [](unsigned char open) { return open != 0; },
            [](unsigned char open) { return open == 0; });
      case c10::ScalarType::Half:
        return IsCausalSum<c10::Half>(rows);
      case c10::ScalarType::BFloat16:
        return IsCausalSum<c10::BFloat16>(rows);
      case c10::ScalarType::Float:
        return IsCausalSum<float>(rows);
      case c10::ScalarType::Double:
        return IsCausalSum<double>(rows);
      default:
        return false;
    }
  }

  static constexpr c10::DispatchKeySet kNotPlain =
      c10::DispatchKeySet(c10::DispatchKey::Python) |
      c10::DispatchKeySet(c10::DispatchKey::NestedTensor) |
      c10::DispatchKeySet(c10::DispatchKey::FuncTorchBatched) |
      c10::DispatchKeySet(c10::DispatchKey::FuncTorchGradWrapper) |
      c10::DispatchKeySet(c10::DispatchKey::Functionalize) |
      c10::DispatchKeySet(c10::DispatchKey::Negative) |
      c10::DispatchKeySet(c10::DispatchKey::ZeroTensor);

  std::mutex mutex_;
  std::vector<Mask> step_;   // seen since it began
  std::vector<Mask> taken_;  // rows are being copied
  size_t held_bytes_ = 0;
  uint64_t calls_ = 0, causal_ = 0, unknown_ = 0, others_ = 0;
  int64_t positions_ = 0;
  std::string kind_;
};

AttentionMasks g_masks;
at::CallbackHandle g_masks_callback{};
constexpr int64_t kMostOperators = 200'000;  // that are looked at
std::atomic<int64_t> g_operators_left{0};

// Of the thread that steps the optimizer, outside of what is not looked into: backward functions,
// and one operator that calls what it would be seen as.
Operands g_operands;
thread_local bool t_is_looked_at = false;
thread_local int t_not_looked_into = 0;
struct NotLookedInto final : at::ObserverContext {
  static void operator delete(void*) {}
};
NotLookedInto g_not_looked_into;

std::unique_ptr<at::ObserverContext> OnOperatorWithInputs(const at::RecordFunction& function) {
  bool looks_into = function.scope() == at::RecordScope::FUNCTION;
  try {
    if (g_operators_left.fetch_sub(1, std::memory_order_relaxed) == 0)
      at::disableCallback(g_masks_callback);
    if (looks_into && std::strcmp(function.name(), "aten::scaled_dot_product_attention") == 0)
      g_masks.See(function.inputs());
    if (!t_is_looked_at) return nullptr;
    if (looks_into && t_not_looked_into == 0)
      g_operands.See(function.name(), function.inputs(), function.seqNr());
    looks_into = looks_into && std::strcmp(function.name(), "aten::cosine_similarity") != 0;
  } catch (...) {
    // A kind of tensor that does not answer: this call is not looked at.
  }
  if (looks_into || !t_is_looked_at) return nullptr;
  ++t_not_looked_into;
  return std::unique_ptr<at::ObserverContext>(&g_not_looked_into);
}

void OnOperatorWithInputsEnd(const at::RecordFunction&, at::ObserverContext* context) {
  if (context != nullptr) --t_not_looked_into;
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

// For a few steps of a program, from Python: looks at the masks that attention is given, and on
// this thread at what operators are given. -1: it cannot, and is not to be asked again.
extern "C" __attribute__((visibility("default"))) int batchlight_torch_masks_begin() {
  try {
    g_operators_left.store(kMostOperators, std::memory_order_relaxed);
    t_is_looked_at = true;
    t_not_looked_into = 0;
    g_masks_callback = at::addGlobalCallback(
        at::RecordFunctionCallback(OnOperatorWithInputs, OnOperatorWithInputsEnd)
            .needsInputs(true)
            .scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION}));
    return 0;
  } catch (...) {
    return -1;
  }
}

extern "C" __attribute__((visibility("default"))) void batchlight_torch_masks_end() {
  try {
    at::removeCallback(g_masks_callback);
  } catch (...) {
    // It is gone.
  }
}

// A step ends. 1: a GPU copies rows of its masks, and batchlight_torch_masks_tell is to wait for
// it.
extern "C" __attribute__((visibility("default"))) int batchlight_torch_masks_take(int copies) {
  try {
    g_operands.EndStep();
    return g_masks.Take(copies != 0) ? 1 : 0;
  } catch (...) {
    return -1;
  }
}

// Writes what is known. `copied`: the GPU's copies are there.
extern "C" __attribute__((visibility("default"))) int batchlight_torch_masks_tell(int copied,
                                                                                  char* text,
                                                                                  size_t size) {
  try {
    if (copied != 0) g_masks.Judge();
    g_masks.Tell(text, size);
    return 0;
  } catch (...) {
    return -1;
  }
}

// Writes what operators were given (torch_operands.h), as much as there is room for.
extern "C" __attribute__((visibility("default"))) int batchlight_torch_operands_tell(char* text,
                                                                                     size_t size) {
  try {
    t_is_looked_at = false;
    std::snprintf(text, size, "%s", g_operands.Tell().c_str());
    return 0;
  } catch (...) {
    return -1;
  }
}
