#include "cpython/frame_layout.h"

#include <cstddef>
#include <cstring>

namespace batchlight::cpython {
namespace {

// From the headers of CPython 3.8.18, 3.9.18, 3.10.13, 3.11.7 and 3.12.1; they stay the same within
// a minor version, which the walk of a known stack checks (python/native_stacks.cpp).
constexpr FrameLayout k38 = {.object_type = 8,
                             .object_size = 16,
                             .thread_frame = 24,
                             .frame_code = 32,
                             .frame_back = 24,
                             .frame_place = 104,
                             .place_unit = 1,
                             .frame_variables = 56,
                             .code_first_line = 40,
                             .code_file = 104,
                             .code_name = 112,
                             .code_table = 120,
                             .bytes_data = 32,
                             .text_length = 16,
                             .text_state = 32,
                             .ascii_data = 48,
                             .compact_data = 72,
                             .table_kind = LineTableKind::kPairs};

constexpr FrameLayout Layout310() {
  FrameLayout layout = k38;
  layout.frame_place = 96;
  layout.place_unit = kInstructionBytes;
  layout.table_kind = LineTableKind::kSpans;
  return layout;
}
constexpr FrameLayout k310 = Layout310();

constexpr FrameLayout k311 = {.object_type = 8,
                              .object_size = 16,
                              .thread_frame = 56,
                              .has_c_frame = true,
                              .c_frame_frame = 8,
                              .frame_code = 32,
                              .frame_back = 48,
                              .frame_place = 56,
                              .place_is_pointer = true,
                              .object_frame = 24,
                              .frame_variables = 24,
                              .code_first_line = 72,
                              .code_file = 112,
                              .code_name = 128,
                              .code_table = 136,
                              .code_bytecode = 184,
                              .bytes_data = 32,
                              .text_length = 16,
                              .text_state = 32,
                              .ascii_data = 48,
                              .compact_data = 72,
                              .table_kind = LineTableKind::kLocations};

constexpr FrameLayout Layout312() {
  FrameLayout layout = k311;
  layout.c_frame_frame = 0;
  layout.frame_code = 0;
  layout.frame_back = 8;
  layout.frame_owner = 70;
  layout.owner_is_c = 3;
  layout.frame_variables = 40;
  layout.code_first_line = 68;
  layout.code_bytecode = 192;
  layout.ascii_data = 40;
  layout.compact_data = 56;
  return layout;
}
constexpr FrameLayout k312 = Layout312();

constexpr char kCookie[] = "xdebugpy";

// _Py_DebugOffsets, at the start of _PyRuntime. Each version has other members behind the first
// three; those of which the members stayed are these.
struct RuntimeOffsets {
  char cookie[8];
  uint64_t version, free_threaded;
  uint64_t size, finalizing, interpreters_head;
};
struct ThreadOffsets {
  uint64_t size, prev, next, interp, current_frame, thread_id, native_thread_id, datastack_chunk,
      status;
};
struct ObjectOffsets {
  struct {
    uint64_t size, ob_type;
  } pyobject;
  struct {
    uint64_t size, tp_name, tp_repr, tp_flags;
  } type_object;
  struct {
    uint64_t size, ob_item, ob_size;
  } tuple_object, list_object;
};
struct ValueOffsets {
  struct {
    uint64_t size, ma_keys, ma_values;
  } dict_object;
  struct {
    uint64_t size, ob_fval;
  } float_object;
  struct {
    uint64_t size, lv_tag, ob_digit;
  } long_object;
  struct {
    uint64_t size, ob_size, ob_sval;
  } bytes_object;
  struct {
    uint64_t size, state, length, asciiobject_size;
  } unicode_object;
};

struct DebugOffsets313 {
  RuntimeOffsets runtime;
  struct {
    uint64_t size, id, next, threads_head, gc, imports_modules, sysdict, builtins, ceval_gil,
        gil_runtime_state, gil_runtime_state_enabled, gil_runtime_state_locked,
        gil_runtime_state_holder;
  } interpreter_state;
  ThreadOffsets thread_state;
  struct {
    uint64_t size, previous, executable, instr_ptr, localsplus, owner;
  } interpreter_frame;
  struct {
    uint64_t size, filename, name, qualname, linetable, firstlineno, argcount, localsplusnames,
        localspluskinds, co_code_adaptive;
  } code_object;
  ObjectOffsets objects;
  ValueOffsets values;
};

struct DebugOffsets314 {
  RuntimeOffsets runtime;
  struct {
    uint64_t size, id, next, threads_head, threads_main, gc, imports_modules, sysdict, builtins,
        ceval_gil, gil_runtime_state, gil_runtime_state_enabled, gil_runtime_state_locked,
        gil_runtime_state_holder, code_object_generation, tlbc_generation;
  } interpreter_state;
  ThreadOffsets thread_state;
  struct {
    uint64_t size, previous, executable, instr_ptr, localsplus, owner, stackpointer, tlbc_index;
  } interpreter_frame;
  struct {
    uint64_t size, filename, name, qualname, linetable, firstlineno, argcount, localsplusnames,
        localspluskinds, co_code_adaptive, co_tlbc;
  } code_object;
  ObjectOffsets objects;
  struct {
    uint64_t size, used, table, mask;
  } set_object;
  ValueOffsets values;
};

constexpr uint64_t k313 = 0x030d;
constexpr uint64_t k314 = 0x030e;

FrameLayout g_described;

// False: it is not that of `version`, as its first release candidate or a later one describes it.
template <typename Offsets>
bool ReadOffsets(const void* runtime, uint64_t version, Offsets* offsets) {
  if (runtime == nullptr) return false;
  std::memcpy(offsets, runtime, sizeof *offsets);
  constexpr uint64_t kReleaseCandidate = 0xc;
  return std::memcmp(offsets->runtime.cookie, kCookie, sizeof offsets->runtime.cookie) == 0 &&
         offsets->runtime.version >> 16 == version &&
         (offsets->runtime.version >> 4 & 15) >= kReleaseCandidate;
}

template <typename Offsets>
const FrameLayout* Describe(const Offsets& offsets) {
  const auto& code = offsets.code_object;
  g_described = k312;
  g_described.has_c_frame = false;
  g_described.frame_variables = 0;
  g_described.object_type = static_cast<uint16_t>(offsets.objects.pyobject.ob_type);
  g_described.object_size = static_cast<uint16_t>(offsets.values.bytes_object.ob_size);
  g_described.thread_frame = static_cast<uint16_t>(offsets.thread_state.current_frame);
  g_described.frame_code = static_cast<uint16_t>(offsets.interpreter_frame.executable);
  g_described.frame_back = static_cast<uint16_t>(offsets.interpreter_frame.previous);
  g_described.frame_place = static_cast<uint16_t>(offsets.interpreter_frame.instr_ptr);
  g_described.frame_owner = static_cast<uint16_t>(offsets.interpreter_frame.owner);
  g_described.code_first_line = static_cast<uint16_t>(code.firstlineno);
  g_described.code_file = static_cast<uint16_t>(code.filename);
  g_described.code_name = static_cast<uint16_t>(code.qualname);
  g_described.code_table = static_cast<uint16_t>(code.linetable);
  g_described.code_bytecode = static_cast<uint16_t>(code.co_code_adaptive);
  g_described.bytes_data = static_cast<uint16_t>(offsets.values.bytes_object.ob_sval);
  g_described.text_length = static_cast<uint16_t>(offsets.values.unicode_object.length);
  g_described.text_state = static_cast<uint16_t>(offsets.values.unicode_object.state);
  g_described.ascii_data = static_cast<uint16_t>(offsets.values.unicode_object.asciiobject_size);
  g_described.compact_data = static_cast<uint16_t>(g_described.ascii_data + 16);
  return &g_described;
}

const FrameLayout* ReadDescription(int minor, const void* runtime, const char** why) {
  if (runtime == nullptr) {
    *why = "this Python does not export _PyRuntime";
    return nullptr;
  }
  if (minor == 13) {
    DebugOffsets313 offsets;
    if (ReadOffsets(runtime, k313, &offsets)) return Describe(offsets);
  } else {
    DebugOffsets314 offsets;
    if (ReadOffsets(runtime, k314, &offsets)) {
      // Its threads may run copies of the bytecode.
      if (offsets.runtime.free_threaded == 0) return Describe(offsets);
      *why = "frames of free-threaded Python 3.14 are not known (those of 3.13 are)";
      return nullptr;
    }
  }
  *why = "this Python does not describe its frames as its version does";
  return nullptr;
}

}  // namespace

const FrameLayout* FindFrameLayout(int minor, const void* runtime, const char** why) {
  switch (minor) {
    case 8:
    case 9:
      return &k38;
    case 10:
      return &k310;
    case 11:
      return &k311;
    case 12:
      return &k312;
    case 13:
    case 14:
      return ReadDescription(minor, runtime, why);
    default:
      *why = "this version of Python is not known (3.8 to 3.14 are)";
      return nullptr;
  }
}

bool IsFreeThreaded(const void* runtime) {
  if (runtime == nullptr) return false;
  return std::memcmp(runtime, kCookie, sizeof kCookie - 1) == 0 &&
         Load<uint64_t>(runtime, offsetof(RuntimeOffsets, free_threaded)) != 0;
}

uint64_t GilSwitchOf(const void* runtime, const void* thread_state) {
  DebugOffsets313 offsets;
  if (!ReadOffsets(runtime, k313, &offsets) || offsets.runtime.free_threaded == 0) return 0;
  const auto* interpreter =
      Load<const void*>(thread_state, static_cast<uint32_t>(offsets.thread_state.interp));
  const auto& members = offsets.interpreter_state;
  const auto gil = Load<uint64_t>(interpreter, static_cast<uint32_t>(members.ceval_gil));
  return gil == 0 ? 0 : gil + members.gil_runtime_state_enabled;
}

}  // namespace batchlight::cpython
