#include "inject/backtrace/thread_backtraces.h"

#include "inject/backtrace/stack_rows.h"
#include "inject/backtrace/stack_walk.h"
#include "inject/buffer/thread_stream.h"
#include "inject/rt/sys.h"
#include "inject/rt/thread_exit.h"
#include "inject/stacks/stack_table.h"

namespace batchlight::inject::backtrace {
namespace {

// Zeroed memory is a thread that has walked nothing yet.
struct ThreadBacktraces {
  uint64_t chunk_ticks;  // of the chunk in which the ids below are defined
  uint32_t generation;   // of the modules that the ids below are of
  uint32_t next_stack;
  uint32_t next_module;
  OwnStack own_stack;
  WalkedStack walked;
  stacks::HashTable<256> modules;  // by load address
  stacks::HashTable<4096> frames;  // below their callers
  stacks::HashTable<1024> whole;   // by WalkedStack::hash
};

__thread ThreadBacktraces* t_backtraces;

ThreadBacktraces* OpenThread() {
  if (!ThreadStream::MayRecord() || !TakeBudget(sizeof(ThreadBacktraces))) return nullptr;
  auto* own = static_cast<ThreadBacktraces*>(sys::MapMemory(sizeof(ThreadBacktraces)));
  if (own == nullptr) {
    ReturnBudget(sizeof(ThreadBacktraces));
    return nullptr;
  }
  t_backtraces = own;
  CallAtThreadExit();
  return own;
}

void Forget(ThreadBacktraces& own, uint64_t chunk_ticks) {
  own.chunk_ticks = chunk_ticks;
  own.next_stack = own.next_module = 1;
  own.modules.Clear();
  own.frames.Clear();
  own.whole.Clear();
}

// Defines in the open chunk what the walked stack lacks there. False: no room, or another chunk was
// opened on the way and ids are void.
class Definer {
 public:
  Definer(ThreadBacktraces& own, ThreadStream& stream, LoadedModules& modules, size_t room)
      : own_(own), stream_(stream), modules_(modules), room_(room) {}

  bool Room(size_t bytes) {
    return stream_.More(bytes + room_) && stream_.base_ticks() == own_.chunk_ticks;
  }

  // 0: as above.
  uint32_t Stack() {
    uint32_t parent = 0;
    uint64_t hash = 0;
    for (size_t i = own_.walked.count; i-- > 0;) {
      hash = FoldProduct(hash ^ own_.walked.frames[i], 0x9e3779b97f4a7c15);
      if (!Frame(hash, own_.walked.frames[i], &parent)) return 0;
    }
    return parent;
  }

 private:
  // Makes `parent` the id of the frame below it.
  bool Frame(uint64_t hash, uintptr_t pc, uint32_t* parent) {
    uint32_t id = own_.frames.Find(hash);
    if (id == 0) {
      format::NativeStackRecord record{.parent = *parent, .address = pc};
      const LoadedModule* module = modules_.Find(pc);
      if (module != nullptr) {
        if (!Module(*module, &record.module)) return false;
        record.address = pc - module->load_bias;
      }
      if (!Room(sizeof record)) return false;
      record.id = id = own_.next_stack++;
      stream_.Write(record);
      own_.frames.Insert(hash, id);
    }
    *parent = id;
    return true;
  }

  bool Module(const LoadedModule& module, uint32_t* id) {
    const uint64_t hash = FoldProduct(modules_.IndexOf(module) + 1, 0x9e3779b97f4a7c15);
    *id = own_.modules.Find(hash);
    if (*id != 0) return true;
    const size_t path_bytes = std::strlen(module.path);
    format::NativeModuleRecord record{};
    if (!Room(sizeof record + StringBytes(path_bytes) + StringBytes(module.build_id_bytes))) {
      return false;
    }
    record.path = stream_.Intern(module.path, path_bytes);
    if (module.build_id != nullptr) {
      record.build_id = stream_.Intern(module.build_id, module.build_id_bytes);
    }
    record.id = *id = own_.next_module++;
    stream_.Write(record);
    own_.modules.Insert(hash, *id);
    return true;
  }

  ThreadBacktraces& own_;
  ThreadStream& stream_;
  LoadedModules& modules_;
  const size_t room_;
};

// As Define(), with nobody else at the modules.
uint32_t DefineNew(ThreadBacktraces& own, ThreadStream& stream, LoadedModules& modules,
                   size_t room) {
  constexpr int kTries = 2;  // the second one in a new chunk
  for (int i = 0; i < kTries; ++i) {
    if (own.chunk_ticks != stream.base_ticks() || own.generation != modules.generation()) {
      Forget(own, stream.base_ticks());
      own.generation = modules.generation();
    }
    Definer definer(own, stream, modules, room);
    if (!definer.Room(0)) continue;
    if (const uint32_t stack = definer.Stack()) {
      own.whole.Insert(own.walked.hash, stack);
      return stack;
    }
  }
  return 0;
}

}  // namespace

bool Walk(const Guard& guard, size_t most_frames) {
  ThreadBacktraces* own = t_backtraces != nullptr ? t_backtraces : OpenThread();
  return own != nullptr && WalkOwnStack(guard, own->own_stack, most_frames, own->walked);
}

uint32_t Define(const Guard& guard, ThreadStream& stream, size_t room) {
  ThreadBacktraces& own = *t_backtraces;
  if (own.chunk_ticks == stream.base_ticks() && stream.More(room) &&
      own.chunk_ticks == stream.base_ticks()) {
    if (const uint32_t known = own.whole.Find(own.walked.hash)) return known;
  }
  uint32_t stack = 0;
  (void)g_stack_rows.WithModules(
      guard, [&](LoadedModules& modules) { stack = DefineNew(own, stream, modules, room); });
  return stack;
}

void ReleaseThread() {
  ThreadBacktraces* own = t_backtraces;
  t_backtraces = nullptr;
  if (own == nullptr) return;
  sys::Unmap(own, sizeof *own);
  ReturnBudget(sizeof *own);
}

}  // namespace batchlight::inject::backtrace
