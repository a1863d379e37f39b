#include "inject/collect/step_board.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>

#include "format/launchers.h"
#include "inject/buffer/chunk_file.h"
#include "inject/buffer/facts.h"
#include "inject/buffer/thread_stream.h"
#include "inject/rt/clock.h"
#include "inject/rt/control.h"
#include "inject/rt/fork_handler.h"
#include "inject/rt/option_number.h"
#include "inject/rt/process.h"
#include "inject/rt/thread_exit.h"

namespace batchlight::inject {

bool g_has_board = false;

namespace {

constexpr int kMostOpen = 15;      // phases within phases whose time is kept apart
constexpr uint8_t kNoPhase = 255;  // time between two phases
constexpr uint64_t kUsPerSecond = 1'000'000;

constinit std::atomic<format::StepBoard*> g_board{nullptr};
constinit std::atomic<format::BoardSlot*> g_slot{nullptr};
constinit std::atomic<bool> g_tried{false};
constinit std::atomic<uint64_t> g_step_began{0};  // ticks; 0: nobody saw it

// What the calling thread did since it last ended a step. On a page of its own, from its first
// phase: thread-local storage of a library loaded late is scarce.
struct PhaseTimes {
  int depth;                    // open phases
  uint8_t open[kMostOpen + 1];  // from 1: place in kBoardPhases
  uint64_t since;               // ticks, when the innermost one came to be that
  uint64_t ticks[format::kBoardPhaseCount];
};
static_assert(sizeof(PhaseTimes) <= format::kPageBytes);
constinit __thread PhaseTimes* t_phases = nullptr;
char g_gone;  // t_phases of a thread that has ended
PhaseTimes* Gone() { return reinterpret_cast<PhaseTimes*>(&g_gone); }

// nullptr without memory, or where the thread ends.
PhaseTimes* Phases() {
  if (t_phases == Gone()) return nullptr;
  if (t_phases != nullptr) return t_phases;
  sys::ErrnoSaver errno_saver;
  if (!ThreadStream::MayRecord() || !TakeBudget(format::kPageBytes)) return nullptr;
  t_phases = static_cast<PhaseTimes*>(sys::MapMemory(format::kPageBytes));
  if (t_phases == nullptr) {
    ReturnBudget(format::kPageBytes);
  } else {
    CallAtThreadExit();
  }
  return t_phases;
}

uint8_t Innermost(const PhaseTimes& phases) {
  if (phases.depth == 0) return kNoPhase;
  return phases.open[phases.depth < kMostOpen ? phases.depth : kMostOpen];
}

void Charge(PhaseTimes& phases, uint64_t now) {
  const uint8_t place = Innermost(phases);
  if (place != kNoPhase) phases.ticks[place] += now - phases.since;
  phases.since = now;
}

// What is no phase of the board is a part of the phase around it.
uint8_t PlaceOf(uint32_t phase, uint8_t around) {
  for (uint8_t i = 0; i < format::kBoardPhaseCount; ++i) {
    if (static_cast<uint32_t>(format::kBoardPhases[i]) == phase) return i;
  }
  return around;
}

int32_t OwnRank() {
  for (const format::Launcher& launcher : format::kLaunchers) {
    const char* const value = std::getenv(launcher.rank);
    if (value != nullptr && *value >= '0' && *value <= '9') {
      return static_cast<int32_t>(LeadingNumber(value) & INT32_MAX);
    }
  }
  return -1;
}

bool IsGone(uint32_t pid) { return sys::Call(SYS_kill, pid, 0) == -ESRCH; }

// A free slot, or that of a process that has ended.
format::BoardSlot* TakeSlot(format::StepBoard& board) {
  const uint32_t own = g_process.pid;
  for (const bool also_of_ended : {false, true}) {
    for (format::BoardSlot& slot : board.slots) {
      uint32_t owner = slot.pid.load(std::memory_order_relaxed);
      if (owner != 0 && owner != own && !(also_of_ended && IsGone(owner))) continue;
      if (!slot.pid.compare_exchange_strong(owner, own, std::memory_order_acq_rel)) continue;
      slot.attach_ns.store(0, std::memory_order_release);
      slot.steps.store(0, std::memory_order_relaxed);
      slot.rank.store(OwnRank(), std::memory_order_relaxed);
      slot.attach_ns.store(g_process.attach_ns, std::memory_order_release);
      return &slot;
    }
  }
  return nullptr;
}

// nullptr, or why there is none.
const char* MapBoard() {
  const int dir_fd = OpenSessionDir();
  const int fd =
      dir_fd < 0 ? -1
                 : sys::OpenAt(dir_fd, format::kStepBoardFile, O_RDWR | O_NOFOLLOW | O_NONBLOCK);
  if (dir_fd >= 0) sys::Close(dir_fd);
  if (fd < 0) return "steps are not watched: the board cannot be opened";
  struct stat info;
  void* memory = MAP_FAILED;
  if (sys::Call(SYS_fstat, fd, &info) == 0 && S_ISREG(info.st_mode) &&
      info.st_size >= off_t{sizeof(format::StepBoard)}) {
    memory = ::mmap(nullptr, sizeof(format::StepBoard), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  }
  sys::Close(fd);
  if (memory == MAP_FAILED) return "steps are not watched: the board cannot be mapped";
  auto* const board = static_cast<format::StepBoard*>(memory);
  if (board->magic.load(std::memory_order_acquire) != format::kStepBoardMagic) {
    sys::Unmap(memory, sizeof(format::StepBoard));
    return "steps are not watched: the board is another version's";
  }
  g_board.store(board, std::memory_order_release);
  g_slot.store(TakeSlot(*board), std::memory_order_release);
  return g_slot.load() == nullptr ? "steps are not watched: 64 processes of the job are" : nullptr;
}

void MapOnce() {
  if (g_tried.exchange(true)) return;
  sys::ErrnoSaver errno_saver;
  const char* const why = MapBoard();
  if (why == nullptr) return;
  Guard guard;
  if (guard) Reason(guard, "monitor", why);
}

// A child that steps is another loop: it takes a slot of its own.
void InForkedChild() {
  g_slot.store(nullptr);
  if (void* const board = g_board.exchange(nullptr)) {
    sys::Unmap(board, sizeof(format::StepBoard));
  }
  g_tried.store(false);
  g_step_began.store(0);
  if (t_phases != nullptr && t_phases != Gone()) *t_phases = {};
}

uint64_t Scaled(uint64_t ticks, uint64_t units_per_second, uint64_t ticks_per_second) {
  return static_cast<uint64_t>(static_cast<double>(ticks) * static_cast<double>(units_per_second) /
                               static_cast<double>(ticks_per_second));
}

}  // namespace

void ReadStepBoard() {
  if (Control() == nullptr || OptionNumber(Control()->extra, "monitor=") == 0) return;
  g_has_board = true;
  OnForkInChild(InForkedChild);
}

void BoardPhaseBegins(uint32_t phase) {
  PhaseTimes* const phases = Phases();
  if (phases == nullptr) return;
  Charge(*phases, Ticks());
  const uint8_t place = PlaceOf(phase, Innermost(*phases));
  if (++phases->depth <= kMostOpen) phases->open[phases->depth] = place;
}

void BoardPhaseEnds() {
  PhaseTimes* const phases = Phases();
  if (phases == nullptr || phases->depth == 0) return;
  Charge(*phases, Ticks());
  --phases->depth;
}

void BoardStepEnded(uint64_t step) {
  MapOnce();
  PhaseTimes* const phases = Phases();
  const ClockPair now = ReadClockPair();
  if (phases != nullptr) Charge(*phases, now.ticks);
  const uint64_t began = g_step_began.exchange(now.ticks, std::memory_order_relaxed);
  const uint64_t rate = TicksPerSecond(now);
  format::BoardSlot* const slot = g_slot.load(std::memory_order_acquire);
  if (slot != nullptr && rate != 0) {
    format::BoardEntry& entry = slot->entries[(step - 1) % format::kBoardEntries];
    entry.step.store(0, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    entry.end_ns.store(now.monotonic_ns, std::memory_order_relaxed);
    constexpr uint64_t kNsPerSecond = 1'000'000'000;
    entry.duration_ns.store(began == 0 ? 0 : Scaled(now.ticks - began, kNsPerSecond, rate),
                            std::memory_order_relaxed);
    for (size_t i = 0; i < format::kBoardPhaseCount; ++i) {
      const uint64_t us = phases != nullptr ? Scaled(phases->ticks[i], kUsPerSecond, rate) : 0;
      entry.phase_us[i].store(us < UINT32_MAX ? static_cast<uint32_t>(us) : UINT32_MAX,
                              std::memory_order_relaxed);
    }
    entry.step.store(step, std::memory_order_release);
    slot->steps.store(step, std::memory_order_release);
  }
  if (phases == nullptr) return;
  for (uint64_t& ticks : phases->ticks) ticks = 0;
}

void ReleasePhases() {
  if (!g_has_board) return;
  PhaseTimes* const phases = t_phases;
  t_phases = Gone();
  if (phases == nullptr || phases == Gone()) return;
  sys::Unmap(phases, format::kPageBytes);
  ReturnBudget(format::kPageBytes);
}

format::StepRequest RequestedSteps() {
  const format::StepBoard* const board = g_board.load(std::memory_order_acquire);
  return board != nullptr ? format::UnpackRequest(board->request.load(std::memory_order_relaxed))
                          : format::StepRequest();
}

}  // namespace batchlight::inject
