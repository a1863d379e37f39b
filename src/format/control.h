// The control page: the one channel between the tool and the processes it records. The tool makes
// the file `control` in the live folder and maps it; every recorded process maps it too. All
// options of the session are in it, so the only variable in the environment is the folder's path.
//
// Live folder, NAME.batchlight.live/:
//   control               this page
//   tool.blp              the tool's own chunks (pid 0): session facts, exit statuses
//   <pid>-<attach_ns>.blp one file a process, chunks of its threads
#pragma once

#include <atomic>
#include <cstdint>

namespace batchlight::format {

inline constexpr char kSessionDirVariable[] = "BATCHLIGHT_SESSION_DIR";
inline constexpr uint64_t kControlMagic = 0x314c52544e4f4342;  // "BCONTRL1"
inline constexpr uint32_t kControlBytes = 64 * 1024;

// Bits of ControlPage::trace.
inline constexpr uint32_t kTraceNvtx = 1u << 0;
inline constexpr uint32_t kTracePython = 1u << 1;
inline constexpr uint32_t kTraceModules = 1u << 2;    // --pytorch=functions-trace
inline constexpr uint32_t kTraceOperators = 1u << 3;  // --pytorch=autograd-nvtx
inline constexpr uint32_t kTraceShapes = 1u << 4;     // --pytorch=...-shapes-nvtx
inline constexpr uint32_t kTraceCuda = 1u << 5;
inline constexpr uint32_t kTracePhases = 1u << 7;      // of kTraceModules, only the training loop
inline constexpr uint32_t kTraceLines = 1u << 8;       // --python-lines=gpu
inline constexpr uint32_t kTraceCallStacks = 1u << 9;  // --python-backtrace=cuda
inline constexpr uint32_t kTracePythonSamples = 1u << 10;  // --python-sampling
inline constexpr uint32_t kTraceOs = 1u << 12;             // -t osrt
inline constexpr uint32_t kTraceLibraries = 1u << 13;      // -t cublas, cudnn, ...
inline constexpr uint32_t kTraceMemory = 1u << 14;         // --python-memory

enum class CaptureTrigger : uint32_t { kNone = 0, kNvtx = 1, kCudaProfilerApi = 2, kSteps = 3 };

// Why recording stopped by itself.
enum class RecordingStop : uint32_t { kNone = 0, kKeepFree = 1, kMaxSize = 2, kDiskFull = 3 };

// Where the tool runs. All zeros: it does not say.
struct Machine {
  char boot_id[40];  // /proc/sys/kernel/random/boot_id: no other machine has it, whatever its name
  char host[72];
  uint64_t pid_namespace;  // inode of /proc/self/ns/pid: one of a container; 0: not known
};

struct ControlPage {
  uint64_t magic;    // kControlMagic, written last by the tool
  uint32_t version;  // kFormatVersion
  uint32_t trace;    // kTrace* bits

  // Collection state: bit 0 = collecting, bits 1-31 = capture index. Read (relaxed) by every
  // event; written by the tool (start, stop, delay, duration) or by the process whose range
  // triggers a capture, with a compare-and-swap:
  //   start: bit 0 is 0  ->  captures_done << 1 | 1
  //   stop:  bit 0 is 1  ->  bit 0 cleared, then captures_done + 1
  // so the index goes up when the next capture starts, and what processes write between two
  // captures (their end, their counters) belongs to the one before. A new index makes every thread
  // open a new chunk.
  std::atomic<uint32_t> state;
  // Futex word (shared), bumped and woken after each change of `state`.
  std::atomic<uint32_t> changes;
  // --overhead: one step in how many has detail, and from which block of steps on
  // (inject/collect/detail_plan.h); 0 = nobody has measured yet. Of the first process that steps:
  // all processes of the machine follow it, so that none waits for another's detail.
  std::atomic<uint32_t> detail_plan;
  std::atomic<uint32_t> captures_done;

  CaptureTrigger trigger;
  uint32_t capture_repeat;     // ranges start captures while captures_done is below; 0 = always
  uint32_t budget_bytes;       // mapped recording memory of one process
  uint32_t first_chunk_bytes;  // 0 = default
  uint32_t max_chunk_bytes;    // 0 = default
  uint32_t disable;            // 1 = the session ended: processes no longer attach
  int64_t session_start_ns;    // CLOCK_MONOTONIC
  std::atomic<uint32_t> processes_attached;
  uint32_t range_end_ignored;  // 1 = --capture-range-end=none: a capture never stops by its range
  std::atomic<uint32_t> step_pid;  // the process whose steps count for all; 0 = none yet
  // Why the files grow no further: the first process to find out stores it and bumps `changes`; the
  // tool ends the collection.
  std::atomic<RecordingStop> stop;
  // The files of all processes, how large they may become, and what must stay free on their disk.
  std::atomic<uint64_t> file_bytes;
  uint64_t max_file_bytes;  // 0 = no limit
  uint64_t keep_free_bytes;
  std::atomic<uint32_t> growth_error;  // errno with which a file last could not grow; 0 = never
  std::atomic<uint32_t> files_cut;     // times that somebody cut a mapped file short
  // Events that no file of a process could count: it never got one (it changed its user; those of
  // processes_unfiled are not counted), or the program left the recorder in the middle (siglongjmp,
  // a cancelled thread).
  std::atomic<uint32_t> events_unfiled;
  std::atomic<uint32_t> events_cut_off;

  char capture_message[512];  // --nvtx-capture range
  char capture_domain[256];   // "" = default domain, "*" = any
  uint32_t capture_registered_only;
  uint32_t domain_filter;      // 0 none, 1 include, 2 exclude
  char domains[4096];          // NUL-separated names, ended by an empty one; "default" = unnamed
  char python_path[4096];      // folder that holds the batchlight package and its bridge
  char functions_trace[4096];  // --python-functions-trace JSON file, "" = none
  // Lines key=value. inject/cupti/options.h: cuda.*. inject/collect/step_window.h: window.first and
  // .last (--steps), window.every and .size (--every, --window); capture_message is --step-range.
  // inject/osrt/os_recorder.h: osrt.*. inject/nvtx/library_domains.h: libraries.
  // inject/memory/memory_recorder.h: memory.interval.
  // inject/collect/operator_levels.h: operators.levels (--pytorch-depth).
  // inject/collect/detail_plan.h: detail.every (--control-steps), detail.budget (--overhead, ppm).
  char extra[16384];

  // inject/counting/common_start.h: the process that says with which iteration those of a job begin
  // to measure, 0: none yet; the iterations after which they begin with counters, and with stalls.
  std::atomic<uint32_t> measure_pid;
  std::atomic<uint32_t> counters_from;
  std::atomic<uint32_t> stalls_from;
  // The tool's process group, where it leads none: the program would be in it but for us.
  uint32_t tool_group;
  uint32_t program_pid;  // of the program that the tool started, in whose place nobody else is
  // Files that can still be made on the disk when a process is left without one, and how many
  // processes that were.
  uint64_t keep_free_files;
  std::atomic<uint32_t> processes_unfiled;
  uint32_t max_streams;  // threads of one process that are recorded at once; 0 = any number
  Machine machine;       // whose processes write into the folder
};
static_assert(sizeof(ControlPage) <= kControlBytes);
static_assert(std::atomic<uint32_t>::is_always_lock_free);

inline constexpr uint32_t kStateCollecting = 1;

}  // namespace batchlight::format
