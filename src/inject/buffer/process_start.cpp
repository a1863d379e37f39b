#include "inject/buffer/process_start.h"

#include <sys/auxv.h>

#include <cstdlib>
#include <cstring>

#include "format/launchers.h"
#include "format/secrets.h"
#include "inject/buffer/facts.h"
#include "inject/rt/process.h"
#include "inject/rt/sys.h"
#include "inject/rt/text.h"

namespace batchlight::inject {
namespace {

constexpr size_t kPathBytes = 4096;
constexpr size_t kCommandBytes = format::kMaxStringBytes;

void NoteVariable(const Guard& guard, const char* name) {
  const char* value = *name != '\0' ? std::getenv(name) : nullptr;
  if (value == nullptr) return;
  char key[64];
  Text(key, sizeof key).Add("environment.").Add(name);
  Property(guard, key, value);
}

// Of kPathBytes at most. Without /proc, as it was started.
size_t ReadExecutable(char* path) {
  const long bytes = sys::Call(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", path, kPathBytes);
  if (bytes > 0) return static_cast<size_t>(bytes);
  const auto* started = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  if (started == nullptr) return 0;
  const size_t started_bytes = strnlen(started, kPathBytes);
  std::memcpy(path, started, started_bytes);
  return started_bytes;
}

// Room must have been ensured.
void WriteClockSyncRecord(ThreadStream& stream) {
  const ClockPair pair = ReadClockPair();
  stream.WriteAt(format::ClockSyncRecord{.monotonic_ns = pair.monotonic_ns,
                                         .realtime_ns = sys::Nanoseconds(CLOCK_REALTIME)},
                 pair.ticks);
}

}  // namespace

void WriteClockSync(ThreadStream& stream) {
  if (stream.Ensure(sizeof(format::ClockSyncRecord))) WriteClockSyncRecord(stream);
}

void NoteRank(const Guard& guard) {
  for (const format::Launcher& launcher : format::kLaunchers) {
    NoteVariable(guard, launcher.rank);
    NoteVariable(guard, launcher.world_size);
    NoteVariable(guard, launcher.local_rank);
  }
}

bool WriteProcessStart(ThreadStream& stream, uint32_t capture_index) {
  // Not on the stack: the first event may come from a thread with a small one.
  const size_t scratch_bytes = kPathBytes + kCommandBytes;
  auto* scratch = static_cast<char*>(sys::MapMemory(scratch_bytes));
  if (scratch == nullptr) return true;
  char* command = scratch + kPathBytes;
  const size_t executable_bytes = ReadExecutable(scratch);
  size_t command_bytes = sys::ReadFile("/proc/self/cmdline", command, kCommandBytes);
  while (command_bytes > 0 && command[command_bytes - 1] == 0) --command_bytes;
  command_bytes = format::MaskSecrets(command, command_bytes, '\0');
  const bool room =
      stream.Ensure(sizeof(format::ProcessStartRecord) + sizeof(format::ClockSyncRecord) +
                    StringBytes(executable_bytes) + StringBytes(command_bytes));
  const bool same_capture = stream.capture_index() == capture_index;
  if (room && same_capture) {
    stream.Write(format::ProcessStartRecord{
        .parent_pid = g_process.parent_pid,
        .flags = g_process.forked ? 1u : 0u,
        .executable = stream.Intern(scratch, executable_bytes),
        .command_line = stream.Intern(command, command_bytes),
        .start_ns = g_process.start_ns,
    });
    WriteClockSyncRecord(stream);
  }
  sys::Unmap(scratch, scratch_bytes);
  return same_capture;
}

}  // namespace batchlight::inject
