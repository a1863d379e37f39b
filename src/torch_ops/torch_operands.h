// What operators of the training thread are given, where what they compute could be had of less:
//
//   broadcast squared 256x256x256 256 4 sub:101-sum:104 ...
//     two tensors are broadcast against each other, what comes out is only squared (absolute, norm;
//     product: multiplied; cosine) and summed up over what both have: distances and scalar products
//     of all pairs. The shape in between, how many numbers of each pair are summed up, how often,
//     and the first of the calls: name and autograd's number of the first operator and the last.
//   indexed 12 500000 128 3 index:98 ...
//     rows of a matrix that learns, chosen by more indices than it has rows: backward sums up all
//     that go to one row. Rows, indices, numbers of a row, how often, and the first of the calls.
//
// They are told apart by ";". Seen through the callback that looks at the masks of attention
// (torch_ops.cpp), by shapes alone: no tensor is held, none is read.
#pragma once

#include <ATen/SequenceNumber.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/record_function.h>
#include <c10/core/TensorImpl.h>
#include <c10/core/UndefinedTensorImpl.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

class Operands {
 public:
  using Inputs = c10::ArrayRef<const c10::IValue>;

  // `name`: of an operator of the thread that is looked at, not of a backward. `number`:
  // autograd's, -1 where it follows nothing.
  void See(std::string_view name, Inputs inputs, int64_t number) {
    if (name.substr(0, 6) != "aten::") {
      const Operator other{name, inputs, number};
      for (Pass& pass : passes_) pass.used = pass.used || IsGiven(other, pass);
      return;
    }
    name.remove_prefix(6);
    if (name.size() > 1 && name.back() == '_') name.remove_suffix(1);
    if (number < 0) number = static_cast<int64_t>(at::sequence_number::peek());
    const Operator op{name, inputs, number};
    for (Pass& pass : passes_) {
      if (!pass.used && IsGiven(op, pass)) Follow(op, pass);
    }
    if (name == "index") return SeeIndex(op);
    const Kind kind = KindOf(name);
    if (kind != Kind::kNone) Begin(kind, op);
  }

  // Another step begins: what was on its way is none of it.
  void EndStep() {
    for (const Pass& pass : passes_) {
      if (pass.ended && !pass.used) Count(Describe(pass), pass.elements, CallsOf(pass));
    }
    passes_.clear();
  }

  std::string Tell() {
    EndStep();
    std::sort(found_.begin(), found_.end(),
              [](const Found& a, const Found& b) { return a.elements > b.elements; });
    std::string text;
    for (size_t i = 0; i < found_.size() && i < kMostTold; ++i) {
      text += (i > 0 ? ";" : "") + found_[i].what + ' ' + std::to_string(found_[i].count) +
              found_[i].calls;
    }
    found_.clear();
    return text;
  }

 private:
  struct Operator {
    std::string_view name;
    Inputs inputs;
    int64_t number = 0;
  };
  enum class Kind { kNone, kDifference, kSquared, kProduct, kCosine };
  // A tensor that two others were broadcast to, on its way.
  struct Pass {
    std::vector<int64_t> sizes;
    std::vector<bool> of_both;  // by dimension: neither is broadcast over it
    Kind kind = Kind::kNone;
    int64_t elements = 0, summed = 1;
    bool squared = false, absolute = false, norm = false;
    bool ended = false;  // summed up
    bool used = false;   // by something that needs it
    std::string first, last;
  };
  struct Found {
    std::string what, calls;
    int64_t elements = 0;
    uint64_t count = 0, named = 0;
  };
  static constexpr int64_t kFewestElements = 65'536;
  static constexpr int64_t kBroadcast = 4;  // as many times the elements of both
  static constexpr int64_t kTimesTheRows = 4;
  static constexpr size_t kMostPasses = 16, kMostFound = 32, kMostTold = 4;
  static constexpr uint64_t kMostNamed = 8;

  static Kind KindOf(std::string_view name) {
    if (name == "sub") return Kind::kDifference;
    if (name == "mul") return Kind::kProduct;
    if (name == "mse_loss") return Kind::kSquared;
    return name == "cosine_similarity" ? Kind::kCosine : Kind::kNone;
  }

  static const c10::TensorImpl* TensorOf(const c10::IValue& value) {
    if (!value.isTensor()) return nullptr;
    const c10::TensorImpl* tensor = value.unsafeToTensorImpl();
    const bool plain = tensor != c10::UndefinedTensorImpl::singleton() &&
                       !tensor->key_set().has_any(kNotPlain) &&
                       !tensor->has_symbolic_sizes_strides() && tensor->layout() == c10::kStrided &&
                       (tensor->is_cpu() || tensor->is_cuda());
    return plain ? tensor : nullptr;
  }

  // Over dimensions of stride 0 it was expanded.
  static int64_t Held(const c10::TensorImpl& tensor) {
    int64_t held = 1;
    for (int64_t i = 0; i < tensor.dim(); ++i) {
      if (tensor.stride(i) != 0) held *= tensor.size(i);
    }
    return held;
  }

  static bool IsWhole(const c10::TensorImpl* tensor, const Pass& pass) {
    return tensor != nullptr && tensor->numel() == pass.elements &&
           tensor->sizes() == c10::IntArrayRef(pass.sizes) && Held(*tensor) == pass.elements;
  }

  static bool IsGiven(const Operator& op, const Pass& pass) {
    const auto is_whole = [&](const c10::IValue& value) { return IsWhole(TensorOf(value), pass); };
    return std::any_of(op.inputs.begin(), op.inputs.end(), [&](const c10::IValue& value) {
      if (!value.isTensorList()) return is_whole(value);
      const auto items = value.toListRef();
      return std::any_of(items.begin(), items.end(), is_whole);
    });
  }

  void Begin(Kind kind, const Operator& op) {
    if (op.inputs.size() < 2 || passes_.size() >= kMostPasses) return;
    const c10::TensorImpl *a = TensorOf(op.inputs[0]), *b = TensorOf(op.inputs[1]);
    if (a == nullptr || b == nullptr) return;
    Pass pass{.kind = kind == Kind::kSquared ? Kind::kDifference : kind,
              .squared = kind == Kind::kSquared};
    if (!Broadcast(*a, *b, pass)) return;
    pass.first = std::string(op.name) + ':' + std::to_string(op.number);
    if (kind == Kind::kCosine) {
      const int64_t dim = op.inputs.size() > 2 && op.inputs[2].isInt() ? op.inputs[2].toInt() : 1;
      if (!SumUp(pass, {dim})) return;
      Count(Describe(pass), pass.elements, CallsOf(pass));
      return;  // what it calls is its own
    }
    passes_.push_back(std::move(pass));
  }

  static bool Broadcast(const c10::TensorImpl& a, const c10::TensorImpl& b, Pass& pass) {
    const int64_t rank = std::max(a.dim(), b.dim());
    if (rank < 3) return false;
    pass.sizes.resize(static_cast<size_t>(rank));
    pass.of_both.resize(static_cast<size_t>(rank));
    pass.elements = 1;
    for (int64_t i = 0; i < rank; ++i) {
      const auto at = static_cast<size_t>(i);
      const int64_t of_a = i - (rank - a.dim()), of_b = i - (rank - b.dim());
      const int64_t size_a = of_a < 0 ? 1 : a.size(of_a), size_b = of_b < 0 ? 1 : b.size(of_b);
      pass.sizes[at] = size_a == 1 ? size_b : size_a;
      pass.of_both[at] =
          size_a == size_b && size_a > 1 && a.stride(of_a) != 0 && b.stride(of_b) != 0;
      pass.elements *= pass.sizes[at];
    }
    return pass.elements >= kFewestElements && Held(a) * kBroadcast <= pass.elements &&
           Held(b) * kBroadcast <= pass.elements;
  }

  // An operator that is given what came out of the broadcast.
  void Follow(const Operator& op, Pass& pass) {
    const std::string_view name = op.name;
    if (IsHarmless(name)) return;
    if (name == "sum" || name == "mean" || IsNorm(name)) return Reduce(op, pass);
    if (pass.ended) {
      // An outer operator calls it once more.
      pass.used = true;
    } else if (pass.kind == Kind::kProduct) {
      pass.used = !IsScaled(op, pass);
    } else if (name == "pow") {
      pass.squared = pass.squared || IsNumber(op, 2);
      pass.norm = pass.norm || !IsNumber(op, 2);
    } else if (name == "square" || IsSquare(op)) {
      pass.squared = true;
    } else if (name == "abs") {
      pass.absolute = true;
    } else {
      pass.used = !IsScaled(op, pass);
    }
  }

  static bool IsNorm(std::string_view name) {
    return name == "norm" || name == "linalg_vector_norm" || name == "frobenius_norm";
  }

  static bool IsHarmless(std::string_view name) {
    static constexpr std::array<std::string_view, 9> kHarmless = {
        "to",   "_to_copy",   "detach",      "contiguous", "clone",
        "copy", "empty_like", "result_type", "alias"};
    return std::find(kHarmless.begin(), kHarmless.end(), name) != kHarmless.end();
  }

  static bool IsNumber(const Operator& op, int64_t number) {
    if (op.inputs.size() < 2) return false;
    const c10::IValue& value = op.inputs[1];
    if (value.isInt()) return value.toInt() == number;
    return value.isDouble() && value.toDouble() == static_cast<double>(number);
  }

  static bool IsSquare(const Operator& op) {
    return op.name == "mul" && op.inputs.size() > 1 && op.inputs[1].isTensor() &&
           op.inputs[0].unsafeToTensorImpl() == op.inputs[1].unsafeToTensorImpl();
  }

  // Times or by what is no tensor of all pairs; plus a number.
  static bool IsScaled(const Operator& op, const Pass& pass) {
    if (op.inputs.size() < 2) return false;
    const c10::TensorImpl *a = TensorOf(op.inputs[0]), *b = TensorOf(op.inputs[1]);
    if (op.name == "add" || op.name == "sub")
      return !op.inputs[1].isTensor() || (b != nullptr && b->numel() == 1);
    if (op.name != "mul" && op.name != "div") return false;
    return !(IsWhole(a, pass) && IsWhole(b, pass));
  }

  void Reduce(const Operator& op, Pass& pass) {
    if (pass.ended) return;  // an outer operator calls it
    const bool is_norm = IsNorm(op.name);
    std::vector<int64_t> dims;
    const size_t at = is_norm && op.name != "frobenius_norm" ? 2 : 1;
    if (op.inputs.size() > at && op.inputs[at].isIntList()) {
      const auto list = op.inputs[at].toIntVector();
      dims.assign(list.begin(), list.end());
    }
    const bool is_one = is_norm && IsNumber(op, 1);
    pass.norm = pass.norm || (is_norm && !is_one);
    pass.absolute = pass.absolute || is_one;
    const bool is_known =
        pass.kind == Kind::kProduct ? !is_norm : pass.squared || pass.absolute || pass.norm;
    if (!is_known || !SumUp(pass, dims)) {
      pass.used = true;
      return;
    }
    pass.last = '-' + std::string(op.name) + ':' + std::to_string(op.number);
    pass.ended = true;
  }

  // Over these dimensions, none: all. Whether pairs have numbers of their own that are summed up.
  static bool SumUp(Pass& pass, const std::vector<int64_t>& dims) {
    const auto rank = static_cast<int64_t>(pass.sizes.size());
    for (int64_t i = 0; i < rank; ++i) {
      const bool is_summed =
          dims.empty() || std::any_of(dims.begin(), dims.end(), [&](int64_t dim) {
            return (dim < 0 ? dim + rank : dim) == i;
          });
      const auto at = static_cast<size_t>(i);
      if (is_summed && pass.of_both[at]) pass.summed *= pass.sizes[at];
    }
    return pass.summed > 1;
  }

  static std::string Describe(const Pass& pass) {
    const char* const how = pass.kind == Kind::kProduct  ? "product"
                            : pass.kind == Kind::kCosine ? "cosine"
                            : pass.squared               ? "squared"
                            : pass.norm                  ? "norm"
                                                         : "absolute";
    std::string text = "broadcast " + std::string(how) + ' ';
    for (size_t i = 0; i < pass.sizes.size(); ++i) {
      text += (i > 0 ? "x" : "") + std::to_string(pass.sizes[i]);
    }
    return text + ' ' + std::to_string(pass.summed);
  }

  static std::string CallsOf(const Pass& pass) { return ' ' + pass.first + pass.last; }

  void SeeIndex(const Operator& op) {
    if (!at::GradMode::is_enabled() || op.inputs.size() < 2 || !op.inputs[1].isList()) return;
    const c10::TensorImpl* table = TensorOf(op.inputs[0]);
    if (table == nullptr || !table->requires_grad() || table->dim() != 2 || table->numel() == 0)
      return;
    // What an embedding does: table[index], not table[:, index] or table[i, j].
    const auto items = op.inputs[1].toListRef();
    const auto is_given = [](const c10::IValue& item) {
      return item.isTensor() && item.unsafeToTensorImpl() != c10::UndefinedTensorImpl::singleton();
    };
    if (items.empty() || std::any_of(items.begin() + 1, items.end(), is_given)) return;
    const c10::TensorImpl* index = TensorOf(items[0]);
    if (index == nullptr) return;
    const auto type = c10::typeMetaToScalarType(index->dtype());
    if (type != c10::kLong && type != c10::kInt) return;
    const int64_t rows = table->size(0), indices = index->numel();
    const int64_t width = table->numel() / rows;
    if (indices < kTimesTheRows * rows || indices * width < kFewestElements) return;
    Count("indexed " + std::to_string(rows) + ' ' + std::to_string(indices) + ' ' +
              std::to_string(width),
          indices * width, " index:" + std::to_string(op.number));
  }

  void Count(const std::string& what, int64_t elements, const std::string& call) {
    const auto known = std::find_if(found_.begin(), found_.end(),
                                    [&](const Found& found) { return found.what == what; });
    if (known == found_.end()) {
      if (found_.size() < kMostFound) found_.push_back({what, call, elements, 1, 1});
      return;
    }
    ++known->count;
    known->elements += elements;
    if (known->named++ < kMostNamed) known->calls += call;
  }

  static constexpr c10::DispatchKeySet kNotPlain =
      c10::DispatchKeySet(c10::DispatchKey::Python) |
      c10::DispatchKeySet(c10::DispatchKey::NestedTensor) |
      c10::DispatchKeySet(c10::DispatchKey::FuncTorchBatched) |
      c10::DispatchKeySet(c10::DispatchKey::FuncTorchGradWrapper) |
      c10::DispatchKeySet(c10::DispatchKey::Functionalize);

  std::vector<Pass> passes_;
  std::vector<Found> found_;
};
