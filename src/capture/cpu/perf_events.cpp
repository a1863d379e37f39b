#include "capture/cpu/perf_events.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

#include "base/kernel_text.h"

namespace batchlight::capture {
namespace {

constexpr uint64_t kPageBytes = 4096;
// Without CAP_IPC_LOCK a user may lock 129 pages for each processor.
constexpr uint64_t kMostRingBytes = 512 * kPageBytes;
constexpr uint64_t kFewProcessorsRingBytes = kMostRingBytes;
constexpr uint64_t kManyProcessorsRingBytes = 128 * kPageBytes;
constexpr uint64_t kLeastRingBytes = 16 * kPageBytes;
constexpr long kManyProcessors = 32;

#if defined(__x86_64__)
constexpr uint64_t kUserRegisters = 0xff01ff;  // ax-ip, r8-r15
#elif defined(__aarch64__)
constexpr uint64_t kUserRegisters = (uint64_t{1} << 33) - 1;
#endif

// Reading an event gives its count and how many of its records found no room (Linux 6.0).
constexpr uint64_t kFormatLost = uint64_t{1} << 4;
struct EventCount {
  uint64_t value;
  uint64_t lost;
};

int OpenEvent(perf_event_attr& attributes, pid_t pid, int cpu) {
  attributes.size = sizeof attributes;
  attributes.read_format = kFormatLost;
  const auto open = [&] {
    return static_cast<int>(
        syscall(SYS_perf_event_open, &attributes, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC));
  };
  const int fd = open();
  if (fd >= 0 || errno != EINVAL) return fd;
  attributes.read_format = 0;
  return open();
}

// Of all events: what follows every record, the clock, and that children inherit them.
perf_event_attr CommonAttributes(bool on_exec) {
  perf_event_attr attributes{};
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_DUMMY;
  attributes.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
  attributes.sample_id_all = 1;
  attributes.disabled = 1;
  attributes.enable_on_exec = on_exec ? 1 : 0;
  attributes.inherit = 1;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  attributes.use_clockid = 1;
  attributes.clockid = CLOCK_MONOTONIC;
  return attributes;
}

perf_event_attr TrackingAttributes() {
  perf_event_attr attributes = CommonAttributes(true);
  attributes.mmap = 1;
  attributes.mmap2 = 1;
  attributes.comm = 1;
  attributes.comm_exec = 1;
  attributes.task = 1;
  return attributes;
}

perf_event_attr SwitchAttributes(bool collecting) {
  perf_event_attr attributes = CommonAttributes(collecting);
  attributes.context_switch = 1;
  return attributes;
}

perf_event_attr SampleAttributes(const CpuOptions& options, bool collecting, bool kernel) {
  perf_event_attr attributes = CommonAttributes(collecting);
  attributes.config = PERF_COUNT_SW_TASK_CLOCK;
  attributes.sample_period = static_cast<uint64_t>(options.period_ns);
  attributes.exclude_kernel = kernel ? 0 : 1;
  attributes.sample_type |= PERF_SAMPLE_IP;
  if (options.backtrace != Backtrace::kNone || kernel) {
    attributes.sample_type |= PERF_SAMPLE_CALLCHAIN;
    attributes.exclude_callchain_user = options.backtrace == Backtrace::kFramePointers ? 0 : 1;
    attributes.exclude_callchain_kernel = kernel ? 0 : 1;
  }
  if (options.backtrace == Backtrace::kUnwindTables) {
    attributes.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
    attributes.sample_regs_user = kUserRegisters;
    attributes.sample_stack_user = kStackBytes;
  }
  return attributes;
}

Status Refused(int error) {
  std::string why = std::string("the kernel refuses (perf_event_open: ") + std::strerror(error);
  const std::string paranoid = FirstLineOf("/proc/sys/kernel/perf_event_paranoid");
  if ((error == EACCES || error == EPERM) && !paranoid.empty()) {
    why += "; kernel.perf_event_paranoid is " + paranoid;
  }
  return OutputError(why + ")");
}

}  // namespace

Result<PerfEvents> PerfEvents::Open(pid_t pid, const CpuOptions& options, bool collecting,
                                    bool kernel) {
  PerfEvents events;
  events.has_kernel_ = kernel && options.samples;
  const long processors = sysconf(_SC_NPROCESSORS_CONF);
  events.ring_bytes_ =
      processors > kManyProcessors ? kManyProcessorsRingBytes : kFewProcessorsRingBytes;
  for (int cpu = 0; cpu < processors; ++cpu) {
    RETURN_IF_ERROR(events.OpenProcessor(pid, cpu, options, collecting));
  }
  if (events.rings_.empty()) return Refused(ENODEV);
  const uint64_t sample_bytes =
      options.samples && options.backtrace == Backtrace::kUnwindTables ? kStackBytes + 512 : 4096;
  events.ring_ns_ = static_cast<int64_t>(events.ring_bytes_ / sample_bytes) *
                    std::max<int64_t>(options.period_ns, 100'000);
  return events;
}

Status PerfEvents::OpenProcessor(pid_t pid, int cpu, const CpuOptions& options, bool collecting) {
  perf_event_attr tracking = TrackingAttributes();
  const int owner = OpenEvent(tracking, pid, cpu);
  if (owner < 0 && (errno == ENODEV || errno == ENXIO)) return {};  // the processor is off
  if (owner < 0) return Refused(errno);
  rings_.push_back({.fds = {owner}});
  Ring& ring = rings_.back();
  RETURN_IF_ERROR(MapRing(ring));
  const auto add = [&](int fd) -> Status {
    if (fd < 0) return Refused(errno);
    ring.fds.push_back(fd);
    ring.collected.push_back(fd);
    if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, owner) != 0) return Refused(errno);
    return {};
  };
  if (options.switches) {
    perf_event_attr attributes = SwitchAttributes(collecting);
    RETURN_IF_ERROR(add(OpenEvent(attributes, pid, cpu)));
  }
  if (!options.samples) return {};
  perf_event_attr attributes = SampleAttributes(options, collecting, true);
  int fd = has_kernel_ ? OpenEvent(attributes, pid, cpu) : -1;
  has_kernel_ = fd >= 0;
  if (fd < 0) {
    attributes = SampleAttributes(options, collecting, false);
    fd = OpenEvent(attributes, pid, cpu);
  }
  sample_type_ = attributes.sample_type;
  return add(fd);
}

Status PerfEvents::MapRing(Ring& ring) {
  while (true) {
    void* memory =
        mmap(nullptr, ring_bytes_ + kPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring.fds[0], 0);
    if (memory != MAP_FAILED) {
      ring.memory = static_cast<uint8_t*>(memory);
      ring.bytes = ring_bytes_;
      return {};
    }
    // More than the user may lock: rings from here on are smaller.
    if (errno != EPERM || ring_bytes_ / 2 < kLeastRingBytes) return Refused(errno);
    ring_bytes_ /= 2;
  }
}

PerfEvents::~PerfEvents() {
  for (const Ring& ring : rings_) {
    if (ring.memory != nullptr) munmap(ring.memory, ring.bytes + kPageBytes);
    for (const int fd : ring.fds) close(fd);
  }
}

void PerfEvents::SetCollecting(bool on) {
  for (const Ring& ring : rings_) {
    for (const int fd : ring.collected) {
      ioctl(fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
    }
  }
}

uint64_t PerfEvents::Lost() const {
  uint64_t lost = 0;
  for (const Ring& ring : rings_) {
    for (const int fd : ring.fds) {
      EventCount count{};
      if (read(fd, &count, sizeof count) == sizeof count) lost += count.lost;
    }
  }
  return lost;
}

void PerfEvents::Read(const std::function<void(std::span<const uint8_t>)>& take) {
  for (Ring& ring : rings_) ReadRing(ring, take);
}

void PerfEvents::ReadRing(Ring& ring, const std::function<void(std::span<const uint8_t>)>& take) {
  auto* page = reinterpret_cast<perf_event_mmap_page*>(ring.memory);
  const uint8_t* data = ring.memory + kPageBytes;
  const uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
  uint64_t tail = page->data_tail;
  while (tail < head) {
    const uint64_t at = tail % ring.bytes;
    perf_event_header header;
    std::memcpy(&header, data + at,
                sizeof header);  // records are aligned to 8: it lies in one piece
    if (header.size < sizeof header || header.size > head - tail) break;
    if (at + header.size <= ring.bytes) {
      take({data + at, header.size});
    } else {
      const uint64_t first = ring.bytes - at;
      scratch_.resize(header.size);
      std::memcpy(scratch_.data(), data + at, first);
      std::memcpy(scratch_.data() + first, data, header.size - first);
      take(scratch_);
    }
    tail += header.size;
  }
  __atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
}

std::string WhyNoSamples() {
  perf_event_attr attributes =
      SampleAttributes({.samples = true, .period_ns = 5'000'000}, false, false);
  const int fd = OpenEvent(attributes, 0, -1);
  if (fd >= 0) {
    close(fd);
    return "";
  }
  return Refused(errno).message();
}

}  // namespace batchlight::capture
