#include "inject/stacks/thread_stacks.h"

#include "cpython/text_object.h"
#include "inject/buffer/facts.h"
#include "inject/rt/sys.h"
#include "inject/stacks/stack_table.h"

namespace batchlight::inject::stacks {

std::atomic<bool> g_of_calls{false}, g_on{false};

namespace {

FrameSource g_source;  // written before they are set

struct Innermost {
  const void* frame;
  uint64_t place;
  friend bool operator==(const Innermost&, const Innermost&) = default;
};

constexpr size_t kMaxOpen = 64;  // operators in each other; those further in take their own stacks

// Zeroed memory is a thread that has called nothing yet.
struct ThreadStacks {
  uint64_t chunk_ticks;  // of the chunk in which the ids below are defined
  uint32_t next_code;
  uint32_t next_stack;
  size_t open_count;
  Innermost open[kMaxOpen];
  Innermost now;
  RawStack walked;  // at `now`
  HashTable<1024> codes;
  HashTable<8192> frames;  // below their callers
  HashTable<2048> stacks;  // by RawStack::hash
};

__thread ThreadStacks* t_stacks;

ThreadStacks* OpenThread() {
  t_stacks = static_cast<ThreadStacks*>(sys::MapMemory(sizeof(ThreadStacks)));
  return t_stacks;
}

// Ids count from 1 in every chunk.
void FollowChunk(ThreadStacks& own, const ThreadStream& stream) {
  if (own.chunk_ticks == stream.base_ticks()) return;
  own.chunk_ticks = stream.base_ticks();
  own.next_code = own.next_stack = 1;
  own.codes.Clear();
  own.frames.Clear();
  own.stacks.Clear();
}

[[gnu::cold]] void StopBroken(const Guard& guard) {
  Stop();
  Reason(guard, "python-lines", "Python's frames were not where they were at the start");
}

Place Walk(const Guard& guard, ThreadStacks& own, const ThreadStream& stream) {
  if (!WalkFrames(g_source, own.now.frame, own.walked)) {
    StopBroken(guard);
    return {};
  }
  FollowChunk(own, stream);
  return {.is_known = true, .stack = own.stacks.Find(own.walked.hash)};
}

bool IsInOperatorAround(const ThreadStacks& own) {
  return own.open_count > 0 && own.open_count <= kMaxOpen &&
         own.open[own.open_count - 1] == own.now;
}

// `again`: also if it is that of the operator around.
Place TellPlace(const Guard& guard, const ThreadStream& stream, bool again) {
  const void* state = g_source.thread_state();
  ThreadStacks* own = t_stacks;
  if (own != nullptr) own->now = {};
  if (state == nullptr) return {};
  const void* frame = InnermostFrame(g_source, state);
  if (frame == nullptr) return {};
  if (own == nullptr && (own = OpenThread()) == nullptr) return {};
  own->now = {frame, PlaceOf(*g_source.layout, frame)};
  if (!again && IsInOperatorAround(*own)) return {};
  return Walk(guard, *own, stream);
}

uint64_t HashBelow(uint64_t callers, const RawFrame& frame) {
  return FoldProduct(callers ^ reinterpret_cast<uint64_t>(frame.code) ^ frame.identity << 7,
                     frame.place ^ 0xc2b2ae3d27d4eb4f);
}

// Defines in the open chunk what the walked stack lacks there. False: no room, or another chunk was
// opened on the way and ids are void.
class Definer {
 public:
  Definer(ThreadStacks& own, ThreadStream& stream, size_t room)
      : own_(own), stream_(stream), room_(room) {}

  bool Room(size_t bytes) {
    return stream_.More(bytes + room_) && stream_.base_ticks() == own_.chunk_ticks;
  }

  // 0: as above.
  uint32_t Stack() {
    uint64_t hash = own_.walked.is_cut ? 1 : 0;
    uint32_t parent = 0;
    if (own_.walked.is_cut && !Frame(hash, nullptr, &parent)) return 0;
    for (size_t i = own_.walked.count; i-- > 0;) {
      const RawFrame& frame = own_.walked.frames[i];
      hash = HashBelow(hash, frame);
      if (!Frame(hash, &frame, &parent)) return 0;
    }
    return parent;
  }

 private:
  // Makes `parent` the id of the frame below it. nullptr: the frames that are cut off.
  bool Frame(uint64_t hash, const RawFrame* frame, uint32_t* parent) {
    uint32_t id = own_.frames.Find(hash);
    if (id == 0) {
      format::PythonStackRecord record{.parent = *parent};
      if (frame != nullptr && !Code(*frame, &record.code)) return false;
      if (frame != nullptr) record.line = LineOf(*g_source.layout, *frame);
      if (!Room(sizeof record)) return false;
      record.id = id = own_.next_stack++;
      stream_.Write(record);
      own_.frames.Insert(hash, id);
    }
    *parent = id;
    return true;
  }

  bool Code(const RawFrame& frame, uint32_t* code) {
    const uint64_t hash =
        FoldProduct(reinterpret_cast<uint64_t>(frame.code), frame.identity ^ 0x9e3779b97f4a7c15);
    *code = own_.codes.Find(hash);
    if (*code != 0) return true;
    const FrameLayout& layout = *g_source.layout;
    char file_buffer[cpython::kTextBytes], name_buffer[cpython::kTextBytes];
    const cpython::TextView file =
        cpython::ReadText(layout, Load<const void*>(frame.code, layout.code_file), file_buffer);
    const cpython::TextView name =
        cpython::ReadText(layout, Load<const void*>(frame.code, layout.code_name), name_buffer);
    format::PythonCodeRecord record{};
    if (!Room(sizeof record + StringBytes(file.size) + StringBytes(name.size))) return false;
    record.file = stream_.Intern(file.data, file.size);
    record.function = stream_.Intern(name.data, name.size);
    record.first_line = Load<uint32_t>(frame.code, layout.code_first_line);
    record.id = *code = own_.next_code++;
    stream_.Write(record);
    own_.codes.Insert(hash, *code);
    return true;
  }

  ThreadStacks& own_;
  ThreadStream& stream_;
  const size_t room_;
};

}  // namespace

void Start(const FrameSource& source, bool of_calls) {
  g_source = source;
  g_of_calls.store(of_calls, std::memory_order_release);
  g_on.store(true, std::memory_order_release);
}

void Stop() {
  g_of_calls.store(false, std::memory_order_release);
  g_on.store(false, std::memory_order_release);
}

Place OperatorBegins(const Guard& guard, const ThreadStream& stream) {
  return TellPlace(guard, stream, false);
}

void OperatorRecorded() {
  ThreadStacks* own = t_stacks;
  if (own == nullptr) return;
  if (own->open_count < kMaxOpen) own->open[own->open_count] = own->now;
  ++own->open_count;
}

void OperatorEnds() {
  ThreadStacks* own = t_stacks;
  if (own != nullptr && own->open_count > 0) --own->open_count;
}

Place CallBegins(const Guard& guard, const ThreadStream& stream) {
  return TellPlace(guard, stream, false);
}

Place AllocationBegins(const Guard& guard, const ThreadStream& stream) {
  return TellPlace(guard, stream, true);
}

uint32_t Define(ThreadStream& stream, size_t room) {
  ThreadStacks& own = *t_stacks;
  constexpr int kTries = 2;  // the second one in a new chunk
  for (int i = 0; i < kTries; ++i) {
    FollowChunk(own, stream);
    Definer definer(own, stream, room);
    if (!definer.Room(0)) continue;
    if (const uint32_t known = own.stacks.Find(own.walked.hash)) return known;
    if (const uint32_t stack = definer.Stack()) {
      own.stacks.Insert(own.walked.hash, stack);
      return stack;
    }
  }
  return 0;
}

void ReleaseThread() {
  ThreadStacks* own = t_stacks;
  t_stacks = nullptr;
  if (own != nullptr) sys::Unmap(own, sizeof *own);
}

}  // namespace batchlight::inject::stacks
