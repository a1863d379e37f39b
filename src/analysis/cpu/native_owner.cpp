#include "analysis/cpu/native_owner.h"

#include <algorithm>
#include <initializer_list>

namespace batchlight {
namespace {

bool StartsWithAny(std::string_view name, std::initializer_list<std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

bool IsOfSystem(std::string_view name) {
  // libcufile exports what C++ allocates by.
  return name.empty() || name.starts_with('[') ||
         StartsWithAny(
             name, {"libc.so", "libc-2", "libm.so", "libm-2", "libpthread", "libdl.so", "librt.so",
                    "ld-linux", "ld-musl", "libstdc++", "libgcc_s", "libjemalloc", "libtcmalloc",
                    "libmimalloc", "libcufile", "libbatchlight_"});
}

bool IsMath(std::string_view name) {
  return StartsWithAny(
      name, {"libmkl", "libopenblas", "libscipy_openblas", "libblas", "libcblas", "libblis",
             "liblapack", "libdnnl", "libgomp", "libiomp", "libomp", "libtbb", "libnnpack",
             "libxnnpack", "libfbgemm", "libsleef", "libarm_compute"});
}

bool IsCudas(std::string_view name) {
  return StartsWithAny(name, {"libcuda", "libcublas", "libcudnn", "libcusparse", "libcusolver",
                              "libcufft", "libcurand", "libcupti", "libnccl", "libnvrtc",
                              "libnvidia", "libnvJitLink", "libnvToolsExt"});
}

// PyTorch's, or another framework's, whose computing is what the program is for.
bool IsOfOperators(std::string_view path, std::string_view name) {
  return path.find("/torch/") != path.npos || path.find("/functorch/") != path.npos ||
         path.find("/triton/") != path.npos ||
         StartsWithAny(name, {"libtorch", "libc10", "libshm.so", "libtriton", "libkineto",
                              "libtensorflow", "_pywrap_tensorflow", "xla_extension", "libjax",
                              "_jax.", "libonnxruntime", "onnxruntime_"});
}

}  // namespace

NativeOwner OwnerOfNative(std::string_view path) {
  const size_t slash = path.rfind('/');
  const std::string_view name = slash == path.npos ? path : path.substr(slash + 1);
  if (IsOfSystem(name)) return NativeOwner::kSystem;
  if (IsMath(name)) return NativeOwner::kMath;
  if (IsCudas(name)) return NativeOwner::kCuda;
  if (IsOfOperators(path, name)) return NativeOwner::kOperators;
  if (StartsWithAny(name, {"python", "libpython", "pypy"})) return NativeOwner::kPython;
  return NativeOwner::kOther;
}

NativeCallees::NativeCallees(const Store& store) : store_(store) {
  for (const StringId path : store.native_modules.path) {
    owners_.push_back(OwnerOfNative(store.Text(path)));
  }
}

NativeCallee NativeCallees::Of(NativeStackId stack) {
  if (stack.IsNone()) return {};
  const auto [place, added] = found_.try_emplace(stack);
  if (added) place->second = Find(stack);
  return place->second;
}

// From the innermost frame on outwards.
NativeCallee NativeCallees::Find(NativeStackId stack) const {
  NativeCallee callee;
  bool is_math = false;  // so far: nobody knows for whom
  for (; !stack.IsNone(); stack = store_.native_stacks.parent[stack.row()]) {
    const NativeFrameId frame = store_.native_stacks.frame[stack.row()];
    const NativeModuleId module =
        frame.IsNone() ? NativeModuleId::None() : store_.native_frames.module[frame.row()];
    if (module.IsNone()) continue;
    const NativeOwner owner = owners_[module.row()];
    if (owner == NativeOwner::kSystem) continue;
    if (owner == NativeOwner::kMath || owner == NativeOwner::kOther) {
      if (callee.module.IsNone()) callee = {module, frame};
      if (owner == NativeOwner::kOther) return callee;
      is_math = true;
      continue;
    }
    // For an operator, or Python's own.
    return is_math && owner == NativeOwner::kPython ? callee : NativeCallee();
  }
  return {};
}

}  // namespace batchlight
