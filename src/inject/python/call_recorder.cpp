#include "inject/python/call_recorder.h"

#include <atomic>
#include <cstring>
#include <new>
#include <string_view>

#include "inject/buffer/facts.h"
#include "inject/buffer/thread_stream.h"
#include "inject/memory/memory_recorder.h"
#include "inject/python/call_table.h"
#include "inject/python/made_code.h"
#include "inject/python/resident_bytes.h"
#include "inject/rt/lock.h"

namespace batchlight::inject {
namespace {

using format::PythonCallerRecord;
using format::PythonFunctionRecord;
using format::PythonLineRecord;

constexpr uint32_t kNotCollecting = ~uint32_t{format::kStateCollecting};
constexpr uint32_t kThinned = 1;
constexpr uint32_t kLinesOnly = 2;

// By co_flags: generators and coroutines.
bool MaySuspend(uint64_t flags) { return (flags & (0x20 | 0x80 | 0x200)) != 0; }

// As CallOptions. Threads may count while another one changes them: not every Python has a GIL.
struct LiveOptions {
  std::atomic<bool> calls{false};
  std::atomic<uint32_t> thin_calls{0};
  std::atomic<LinesOf*> lines_of{nullptr};
  std::atomic<BuiltinName*> builtin_name{nullptr};
};
LiveOptions g_options;
std::atomic<uint32_t> g_options_number{0};  // goes up when they change

template <class T>
T Now(const std::atomic<T>& option) {
  return option.load(std::memory_order_relaxed);
}

uint64_t g_total_ticks;  // how often totals of open calls are brought up to date
uint64_t g_microsecond_ticks;
bool g_lines_have_memory = false;  // --python-memory
__thread CallTable* t_calls;

// --- records ------------------------------------------------------------------------------------

// An attribute of a code object, for as long as this lives.
class CodeAttribute {
 public:
  CodeAttribute(PyObject* code, const char* name)
      : value_(g_py.PyObject_GetAttrString(code, name)) {
    if (value_ == nullptr) g_py.PyErr_Clear();
  }
  ~CodeAttribute() {
    if (value_ != nullptr) g_py.Py_DecRef(value_);
  }
  CodeAttribute(const CodeAttribute&) = delete;
  CodeAttribute& operator=(const CodeAttribute&) = delete;

  explicit operator bool() const { return value_ != nullptr; }
  PyObject* get() const { return value_ != nullptr ? value_ : g_py._Py_NoneStruct; }

 private:
  PyObject* value_;
};

// Room in the thread's chunk. Records of another chunk are void from here on.
ThreadStream* MakeRoom(CallTable& table, const Guard& guard, size_t bytes) {
  ThreadStream* stream = guard ? ThreadStream::Current(guard) : nullptr;
  if (stream == nullptr || !stream->Ensure(bytes)) return nullptr;
  if (stream->base_ticks() != table.chunk) {
    table.chunk = stream->base_ticks();
    ++table.generation;
  }
  return stream;
}

std::string_view View(const PyText& text) { return {text.data(), text.size()}; }

bool WriteFunction(CallTable& table, FunctionEntry& function, std::string_view file,
                   std::string_view name) {
  Guard guard;
  ThreadStream* stream =
      MakeRoom(table, guard,
               sizeof(PythonFunctionRecord) + StringBytes(file.size()) + StringBytes(name.size()));
  if (stream == nullptr) return false;
  const format::StringRef file_id = stream->Intern(file.data(), file.size());
  const format::StringRef name_id = stream->Intern(name.data(), name.size());
  function.record = stream->WriteInPlace(PythonFunctionRecord{
      .id = function.id,
      .file = file_id,
      .name = name_id,
      .first_line = function.first_line,
      .flags = (function.thinned ? kThinned : 0) | (Now(g_options.calls) ? 0 : kLinesOnly)});
  function.generation = table.generation;
  return true;
}

PyObject* CodeOf(const FunctionEntry& function) {
  return static_cast<PyObject*>(const_cast<void*>(function.code));
}

bool WriteFunction(CallTable& table, FunctionEntry& function) {
  if (function.builtin != nullptr) {
    const PyText name(function.builtin);
    return WriteFunction(table, function, "~", View(name));  // as cProfile says it
  }
  const CodeAttribute file(CodeOf(function), "co_filename");
  CodeAttribute qualified(CodeOf(function), "co_qualname");  // since 3.11
  const CodeAttribute bare(CodeOf(function), "co_name");
  const PyText file_text(file.get());
  const PyText name_text(qualified ? qualified.get() : bare.get());
  return WriteFunction(table, function, View(file_text), View(name_text));
}

bool IsCurrent(const CallTable& table, const FunctionEntry* function) {
  return function == nullptr || function->generation == table.generation;
}

// A record that refers to functions: theirs must be in the same chunk. Making room for one may open
// another chunk, so it may take a second round.
template <class R, class MakeRecord>
R* WriteAfter(CallTable& table, FunctionEntry* first, FunctionEntry* second, MakeRecord make) {
  for (int round = 0; round < 3; ++round) {
    if (!IsCurrent(table, first) && !WriteFunction(table, *first)) return nullptr;
    if (!IsCurrent(table, second) && !WriteFunction(table, *second)) return nullptr;
    Guard guard;
    ThreadStream* stream = MakeRoom(table, guard, sizeof(R));
    if (stream == nullptr) return nullptr;
    if (IsCurrent(table, first) && IsCurrent(table, second)) return stream->WriteInPlace(make());
  }
  return nullptr;
}

[[gnu::cold, gnu::noinline]] bool WriteCaller(CallTable& table, CallerEntry& caller) {
  auto* record = WriteAfter<PythonCallerRecord>(table, caller.function, caller.caller, [&] {
    return PythonCallerRecord{.function = caller.function->id,
                              .caller = caller.caller != nullptr ? caller.caller->id : 0};
  });
  if (record == nullptr) return false;
  caller.record = record;
  caller.generation = table.generation;
  return true;
}

// The sums of a caller in the open chunk; nullptr if there is no room for them. With it, the sums
// of the functions on both sides are current too.
PythonCallerRecord* Sums(CallTable& table, CallerEntry& caller) {
  if (__builtin_expect(caller.generation != table.generation, 0) && !WriteCaller(table, caller)) {
    return nullptr;
  }
  return caller.record;
}

[[gnu::cold, gnu::noinline]] bool WriteLine(CallTable& table, FunctionEntry& function,
                                            LineCount& line) {
  auto* record = WriteAfter<PythonLineRecord>(table, &function, nullptr, [&] {
    const auto offset = static_cast<uint32_t>(&line - function.lines);
    return PythonLineRecord{.function = function.id, .line = function.first_line + offset};
  });
  if (record == nullptr) return false;
  line.record = record;
  line.generation = table.generation;
  return true;
}

PythonLineRecord* Sums(CallTable& table, FunctionEntry& function, LineCount& line) {
  if (__builtin_expect(line.generation != table.generation, 0) &&
      !WriteLine(table, function, line)) {
    return nullptr;
  }
  return line.record;
}

// --- time ---------------------------------------------------------------------------------------

// What is in RAM is looked at only where it may have changed by something that shows.
[[gnu::noinline]] void AddMemory(PythonLineRecord& sums, OpenCall& call, uint64_t ticks) {
  constexpr uint64_t kMuchBytes = 64u << 10, kLongMicroseconds = 1000;
  const memory::ThreadBytes now = memory::BytesOfThread();
  const uint64_t allocated = now.allocated - call.line_bytes.allocated;
  const uint64_t freed = now.freed - call.line_bytes.freed;
  call.line_bytes = now;
  sums.allocated_bytes += allocated;
  sums.grown_bytes += static_cast<int64_t>(allocated - freed);
  if (allocated + freed < kMuchBytes && ticks < kLongMicroseconds * g_microsecond_ticks) return;
  const uint64_t resident = ResidentBytes();
  if (resident > sums.resident_bytes) sums.resident_bytes = resident;
}

void BeginTime(OpenCall& call, uint64_t now) {
  call.line_since = now;
  if (g_lines_have_memory) call.line_bytes = memory::BytesOfThread();
}

void AddLine(PythonLineRecord& sums, OpenCall& call, uint64_t now) {
  sums.ticks += now - call.line_since;
  if (g_lines_have_memory) AddMemory(sums, call, now - call.line_since);
}

void EndLine(CallTable& table, OpenCall& call, uint64_t now) {
  if (PythonLineRecord* sums = Sums(table, *call.function, *call.line)) AddLine(*sums, call, now);
}

// The time since the last event belongs to the innermost call.
void Charge(CallTable& table, uint64_t now) {
  const uint64_t spent = now - table.last;
  table.last = now;
  if (table.depth == 0) return;
  const OpenCall& innermost = table.calls[table.depth - 1];
  if (innermost.caller == nullptr) return;
  if (PythonCallerRecord* sums = Sums(table, *innermost.caller)) {
    sums->self_ticks += spent;
    innermost.function->record->self_ticks += spent;
  }
}

void AddTotals(OpenCall& call, PythonCallerRecord* sums, uint64_t now) {
  const uint64_t spent = now - call.counted_to;
  if (call.outermost) call.function->record->total_ticks += spent;
  if (call.outermost_of_caller) sums->total_ticks += spent;
  call.counted_to = now;
}

// A killed program's totals are short by this interval at most.
[[gnu::cold, gnu::noinline]] void BringTotalsUpToDate(CallTable& table, uint64_t now) {
  table.next_totals = now + g_total_ticks;
  for (uint32_t i = 0; i < table.depth; ++i) {
    OpenCall& call = table.calls[i];
    if (call.line != nullptr) {
      EndLine(table, call, now);
      BeginTime(call, now);
    }
    if (call.caller == nullptr) continue;
    if (PythonCallerRecord* sums = Sums(table, *call.caller)) AddTotals(call, sums, now);
  }
}

void Pop(CallTable& table, uint64_t now) {
  OpenCall& call = table.calls[table.depth - 1];
  if (call.line != nullptr) EndLine(table, call, now);
  --call.function->depth;
  if (call.caller != nullptr) {
    --call.caller->depth;
    if (PythonCallerRecord* sums = Sums(table, *call.caller)) AddTotals(call, sums, now);
  }
  --table.depth;
}

// --- state --------------------------------------------------------------------------------------

// Whether, and how far, a function is to be counted.
void Choose(CallTable& table, FunctionEntry& function) {
  LinesOf* const lines_of = Now(g_options.lines_of);
  const uint32_t lines = lines_of != nullptr ? lines_of(CodeOf(function)) : 0;
  if (lines > 0 && function.lines == nullptr) function.lines = table.TakeLines(lines);
  function.line_count = function.lines != nullptr ? lines : 0;  // the same whenever they are timed
  function.counted = Now(g_options.calls) || function.line_count > 0;
}

// The options have changed since the thread's last event.
void ChooseAnew(CallTable& table) {
  table.options = g_options_number.load(std::memory_order_acquire);
  table.Drop();
  ++table.generation;  // records say what they count
  table.ForEachFunction([&](FunctionEntry& function) {
    if (function.builtin == nullptr && !function.ours) Choose(table, function);
  });
}

[[gnu::cold, gnu::noinline]] bool Refresh(CallTable& table) {
  const uint32_t state = SessionState();
  if ((state & format::kStateCollecting) == 0) {
    table.Drop();
    table.state = kNotCollecting;
    return false;
  }
  {
    Guard guard;
    if (MakeRoom(table, guard, 8) == nullptr) return false;
  }
  const uint32_t forks = g_fork_count.load(std::memory_order_relaxed);
  // What began outside of this window, or in the parent, is not counted.
  if (state != table.state || forks != table.fork_count) table.Drop();
  table.state = state;
  table.fork_count = forks;
  if (table.options != g_options_number.load(std::memory_order_relaxed)) ChooseAnew(table);
  return true;
}

[[gnu::cold, gnu::noinline]] CallTable* OpenTable() {
  void* memory = sys::MapMemory(format::kPageBytes);
  if (memory == nullptr) return nullptr;
  t_calls = new (memory) CallTable();
  t_calls->state = kNotCollecting;
  t_calls->options = g_options_number.load(std::memory_order_acquire);
  return t_calls;
}

// The thread's table if events are to be counted in it.
CallTable* Ready() {
  CallTable* table = t_calls;
  if (__builtin_expect(table == nullptr, 0)) {
    if (!Collecting() || !ThreadStream::MayRecord()) return nullptr;
    table = OpenTable();
    if (table == nullptr) return nullptr;
  }
  const ThreadStream* stream = t_thread.stream;
  if (__builtin_expect(SessionState() == table->state && stream != nullptr &&
                           stream->base_ticks() == table->chunk &&
                           g_options_number.load(std::memory_order_relaxed) == table->options,
                       1)) {
    return table;
  }
  return Refresh(*table) ? table : nullptr;
}

// Our own bridge, which the program does not know of: its code is named <FILE>, that of what loads
// it <batchlight>.
bool IsOurs(PyObject* file) {
  const char* folder = Control()->python_path;
  const PyText name(file);
  constexpr char kLoader[] = "<batchlight>";
  if (name.size() == sizeof kLoader - 1 && std::memcmp(name.data(), kLoader, name.size()) == 0) {
    return true;
  }
  const size_t bytes = std::strlen(folder);
  const size_t bracket = name.size() > 0 && name.data()[0] == '<' ? 1 : 0;
  const char* path = name.data() + bracket;
  constexpr char kPackage[] = "/batchlight/_";
  return bytes > 0 && name.size() - bracket > bytes + sizeof kPackage &&
         std::memcmp(path, folder, bytes) == 0 &&
         std::memcmp(path + bytes, kPackage, sizeof kPackage - 1) == 0;
}

bool IsHeld(PyObject* code, PyObject* file) {
  const PyText name(file);
  if (!IsMadeCode({name.data(), name.size()})) return true;
  const Made made = HoldMadeCode(code);
  const Guard guard;
  if (made == Made::kNowFull && guard) {
    Reason(guard, "python-trace",
           "the program makes code again and again (eval, exec): after 4,096 such functions more "
           "are not counted, and their time is that of their callers");
  }
  return made == Made::kHeld;
}

[[gnu::cold, gnu::noinline]] FunctionEntry* MeetFunction(CallTable& table, PyObject* code) {
  const CodeAttribute file(code, "co_filename");
  const bool ours = IsOurs(file.get());
  FunctionEntry* function = ours || IsHeld(code, file.get()) ? table.Add(code) : nullptr;
  if (function == nullptr) return nullptr;
  g_py.Py_IncRef(code);
  const CodeAttribute first_line(code, "co_firstlineno");
  const CodeAttribute flags(code, "co_flags");
  function->first_line = static_cast<uint32_t>(AsNumber(first_line.get()));
  function->flags = static_cast<uint32_t>(AsNumber(flags.get()));
  function->ours = ours;
  if (!function->ours) Choose(table, *function);
  return function;
}

[[gnu::cold, gnu::noinline]] FunctionEntry* MeetBuiltin(CallTable& table, const void* method,
                                                        PyObject* callable) {
  FunctionEntry* function = table.Add(method);
  if (function == nullptr) return nullptr;
  BuiltinName* const name = Now(g_options.builtin_name);
  function->builtin = name != nullptr ? name(callable) : nullptr;
  function->ours = function->builtin == nullptr;
  function->counted = !function->ours;
  return function;
}

// What Python allocated for us may have been recorded, in another chunk: the records that were
// current are not any more.
[[gnu::cold, gnu::noinline]] bool IsStillReady(const CallTable& table) { return Ready() == &table; }

FunctionEntry* FunctionOf(CallTable& table, PyObject* code) {
  FunctionEntry* function = table.Find(code);
  if (__builtin_expect(function != nullptr, 1)) return function;
  function = MeetFunction(table, code);
  return IsStillReady(table) ? function : nullptr;
}

// Many short calls: what watching them costs is more than they do themselves.
[[gnu::cold, gnu::noinline]] bool IsToThin(FunctionEntry& function,
                                           const PythonFunctionRecord& sums) {
  function.entered = 0;
  if (function.depth > 0 || function.line_count > 0) return false;
  if (sums.calls < 1000 || sums.total_ticks / sums.calls >= g_microsecond_ticks) return false;
  function.thinned = true;
  function.record->flags |= kThinned;
  return true;
}

// True: the function is thinned.
bool Push(CallTable& table, FunctionEntry& function, bool resumed) {
  const uint64_t now = Ticks();
  if (!Now(g_options.calls)) {
    if (OpenCall* call = table.Push()) {
      *call = {.function = &function, .counted_to = now};
      ++function.depth;
    }
    return false;
  }
  Charge(table, now);
  if (__builtin_expect(now > table.next_totals, 0)) BringTotalsUpToDate(table, now);
  FunctionEntry* by = table.depth > 0 ? table.calls[table.depth - 1].function : nullptr;
  CallerEntry* caller = table.CallerOf(&function, by);
  PythonCallerRecord* sums = caller != nullptr ? Sums(table, *caller) : nullptr;
  if (sums == nullptr) return false;
  PythonFunctionRecord* of_function = function.record;
  if (__builtin_expect(++function.entered == Now(g_options.thin_calls), 0) &&
      IsToThin(function, *of_function)) {
    return true;
  }
  OpenCall* call = table.Push();
  if (call == nullptr) return false;
  const bool outermost = function.depth++ == 0;
  const bool outermost_of_caller = caller->depth++ == 0;
  ++of_function->calls;
  of_function->primitive_calls += outermost ? 1 : 0;
  of_function->resumptions += resumed ? 1 : 0;
  ++sums->calls;
  sums->primitive_calls += outermost_of_caller ? 1 : 0;
  *call = {.function = &function,
           .caller = caller,
           .counted_to = now,
           .outermost = outermost,
           .outermost_of_caller = outermost_of_caller};
  return false;
}

// Makes the call of `code` the innermost: calls inside it ended without an event. False: it is not
// open.
[[gnu::cold, gnu::noinline]] bool Uncover(CallTable& table, const FunctionEntry* function) {
  if (function == nullptr || function->depth == 0) return false;
  const uint64_t now = Ticks();
  Charge(table, now);
  while (table.depth > 0 && table.calls[table.depth - 1].function != function) Pop(table, now);
  return table.depth > 0;
}

}  // namespace

void SetCallOptions(const CallOptions& options) {
  const uint64_t rate = TicksPerSecond(ReadClockPair());
  g_total_ticks = rate / 50;
  g_microsecond_ticks = rate / 1'000'000;
  g_options.calls.store(options.calls, std::memory_order_relaxed);
  g_options.thin_calls.store(options.thin_calls, std::memory_order_relaxed);
  g_options.lines_of.store(options.lines_of, std::memory_order_relaxed);
  g_options.builtin_name.store(options.builtin_name, std::memory_order_relaxed);
  g_lines_have_memory = options.lines_of != nullptr && memory::CountBytes();
  g_options_number.fetch_add(1, std::memory_order_release);
}

bool EnterCall(PyObject* code, bool resumed) {
  const InPlace in_place;
  CallTable* table = Ready();
  if (table == nullptr) return false;
  FunctionEntry* function = FunctionOf(*table, code);
  if (function == nullptr) return false;
  if (__builtin_expect(!function->counted || function->thinned, 0)) return true;
  return Push(*table, *function, resumed);
}

void EnterFrame(PyObject* code, PyObject* frame, int (*last_instruction)(PyObject* frame)) {
  const InPlace in_place;
  CallTable* table = Ready();
  FunctionEntry* function = table != nullptr ? FunctionOf(*table, code) : nullptr;
  if (function == nullptr || !function->counted) return;
  bool resumed = false;
  if (MaySuspend(function->flags)) {
    // It begins where no call of it has begun earlier.
    const int at = last_instruction(frame);
    if (at < function->start) function->start = at;
    resumed = at > function->start;
    if (!IsStillReady(*table)) return;
  }
  Push(*table, *function, resumed);
}

bool LeaveCall(const void* code) {
  const InPlace in_place;
  CallTable* table = Ready();
  if (table == nullptr) return false;
  if (table->depth == 0 || table->calls[table->depth - 1].function->code != code) {
    const FunctionEntry* function = table->Find(code);
    if (!Uncover(*table, function)) {
      return function != nullptr && (!function->counted || function->thinned);
    }
  }
  const uint64_t now = Ticks();
  Charge(*table, now);
  Pop(*table, now);
  return false;
}

void EnterBuiltin(const void* method, PyObject* callable) {
  const InPlace in_place;
  CallTable* table = Ready();
  if (table == nullptr) return;
  FunctionEntry* function = table->Find(method);
  if (function == nullptr) {
    function = MeetBuiltin(*table, method, callable);
    if (!IsStillReady(*table)) return;
  }
  if (function != nullptr && function->counted && !function->thinned)
    Push(*table, *function, false);
}

void LeaveBuiltin(const void* method) {
  CallTable* table = Ready();
  if (table == nullptr) return;
  const FunctionEntry* function = table->Find(method);
  if (function != nullptr && function->depth > 0) LeaveCall(method);
}

bool WantsLines(PyObject* code) {
  CallTable* table = Ready();
  const FunctionEntry* function = table != nullptr ? FunctionOf(*table, code) : nullptr;
  if (function != nullptr) return function->line_count > 0 || MaySuspend(function->flags);
  return MaySuspend(AsNumber(CodeAttribute(code, "co_flags").get()));
}

bool BeginLine(PyObject* code, uint32_t line) {
  const InPlace in_place;
  CallTable* table = Ready();
  if (table == nullptr) return false;
  FunctionEntry* function = FunctionOf(*table, code);
  if (function == nullptr || line - function->first_line >= function->line_count) return true;
  if (table->depth == 0 || table->calls[table->depth - 1].function != function) {
    // Its begin was before the window.
    if (!Uncover(*table, function)) Push(*table, *function, true);
    if (table->depth == 0 || table->calls[table->depth - 1].function != function) return false;
  }
  OpenCall& call = table->calls[table->depth - 1];
  const uint64_t now = Ticks();
  if (call.line != nullptr) EndLine(*table, call, now);
  if (__builtin_expect(now > table->next_totals, 0)) {
    call.line = nullptr;
    BringTotalsUpToDate(*table, now);
  }
  call.line = &function->lines[line - function->first_line];
  if (PythonLineRecord* sums = Sums(*table, *function, *call.line)) ++sums->hits;
  BeginTime(call, now);
  return false;
}

void LoseCalls() {
  if (t_calls == nullptr) return;
  CountOpenCalls();
  t_calls->Drop();
}

void CountOpenCalls() {
  const InPlace in_place;
  CallTable* table = t_calls;
  const ThreadStream* stream = t_thread.stream;
  // Only what needs no new record: there may be no interpreter any more.
  if (table == nullptr || table->depth == 0 || stream == nullptr ||
      stream->base_ticks() != table->chunk || SessionState() != table->state) {
    return;
  }
  const uint64_t now = Ticks();
  for (uint32_t i = 0; i < table->depth; ++i) {
    OpenCall& call = table->calls[i];
    if (call.line != nullptr && call.line->generation == table->generation) {
      AddLine(*call.line->record, call, now);
      BeginTime(call, now);
    }
    if (call.caller == nullptr || call.caller->generation != table->generation) continue;
    AddTotals(call, call.caller->record, now);
    if (i + 1 < table->depth) continue;
    call.caller->record->self_ticks += now - table->last;
    call.function->record->self_ticks += now - table->last;
  }
  table->last = now;
}

void ReleaseCalls() {
  CallTable* table = t_calls;
  if (table == nullptr) return;
  CountOpenCalls();
  t_calls = nullptr;
  table->Release();
  sys::Unmap(table, format::kPageBytes);
}

}  // namespace batchlight::inject
