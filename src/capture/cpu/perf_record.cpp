#include "capture/cpu/perf_record.h"

#include <linux/perf_event.h>

#include "native/byte_reader.h"

namespace batchlight::capture {
namespace {

using native::ByteReader;

constexpr size_t kTrailerBytes = 24;  // pid, tid, time, cpu, reserved
constexpr uint16_t kCpuModeMask = 7;

#if defined(__x86_64__)
// Of the registers as the kernel sends them (ax bx cx dx si di bp sp ip r8-r15), the numbers that
// unwind tables use; -1: the program counter.
constexpr int kDwarfNumbers[] = {0, 3, 2, 1, 4, 5, 6, 7, -1, 8, 9, 10, 11, 12, 13, 14, 15};
#elif defined(__aarch64__)
constexpr int kDwarfNumbers[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,
                                 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, -1};
#endif

std::span<const uint8_t> Take(ByteReader& in, uint64_t bytes) {
  const auto rest = in.rest();
  const auto taken = bytes <= rest.size() ? rest.first(bytes) : rest.first(0);
  in.Skip(bytes);
  return taken;
}

void ReadRegisters(ByteReader& in, PerfRecord& record) {
  record.has_registers = in.Read<uint64_t>() != PERF_SAMPLE_REGS_ABI_NONE;
  if (!record.has_registers) return;
  for (const int number : kDwarfNumbers) {
    const auto value = in.Read<uint64_t>();
    if (number < 0) {
      record.registers.pc = value;
    } else {
      record.registers.Set(static_cast<size_t>(number), value);
    }
  }
}

void ReadSample(ByteReader& in, uint16_t misc, uint64_t type, PerfRecord& record) {
  record.kind = PerfKind::kSample;
  record.in_kernel = (misc & kCpuModeMask) == PERF_RECORD_MISC_KERNEL;
  if ((type & PERF_SAMPLE_IP) != 0) record.ip = in.Read<uint64_t>();
  record.pid = in.Read<uint32_t>();
  record.tid = in.Read<uint32_t>();
  record.at_ns = in.Read<int64_t>();
  record.cpu = in.Read<uint32_t>();
  in.Skip(4);
  if ((type & PERF_SAMPLE_CALLCHAIN) != 0) {
    const auto count = in.Read<uint64_t>();
    if (count <= in.rest().size() / 8) record.chain = Take(in, count * 8);
  }
  if ((type & PERF_SAMPLE_REGS_USER) != 0) ReadRegisters(in, record);
  if ((type & PERF_SAMPLE_STACK_USER) == 0) return;
  const auto room = in.Read<uint64_t>();
  if (room == 0) return;
  const auto stack = Take(in, room);
  const auto used = in.Read<uint64_t>();
  if (in.ok()) record.stack = stack.first(used < stack.size() ? used : stack.size());
}

void ReadOther(ByteReader& in, const perf_event_header& header, PerfRecord& record) {
  switch (header.type) {
    case PERF_RECORD_SWITCH:
      record.kind = PerfKind::kSwitch;
      record.switched_out = (header.misc & PERF_RECORD_MISC_SWITCH_OUT) != 0;
      record.preempted = (header.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0;
      return;
    case PERF_RECORD_MMAP2: {
      in.Skip(8);  // pid, tid: the trailer has them
      record.begin = in.Read<uint64_t>();
      record.bytes = in.Read<uint64_t>();
      record.file_offset = in.Read<uint64_t>();
      in.Skip(24 + 8);  // device and inode, protection and flags
      record.kind = PerfKind::kMap;
      break;
    }
    case PERF_RECORD_COMM:
      in.Skip(8);
      record.kind = PerfKind::kName;
      record.by_exec = (header.misc & PERF_RECORD_MISC_COMM_EXEC) != 0;
      break;
    case PERF_RECORD_FORK:
    case PERF_RECORD_EXIT:
      record.kind = header.type == PERF_RECORD_FORK ? PerfKind::kBegin : PerfKind::kEnd;
      record.pid = in.Read<uint32_t>();
      record.parent_pid = in.Read<uint32_t>();
      record.tid = in.Read<uint32_t>();
      return;
    case PERF_RECORD_LOST:
      in.Skip(8);
      record.lost = in.Read<uint64_t>();
      record.kind = PerfKind::kLost;
      return;
    case PERF_RECORD_LOST_SAMPLES:
      record.lost = in.Read<uint64_t>();
      record.kind = PerfKind::kLost;
      return;
    default:
      return;
  }
  // The name fills what is left, padded with zeros.
  const auto name = in.rest();
  const auto* text = reinterpret_cast<const char*>(name.data());
  record.name = {text, strnlen(text, name.size())};
}

}  // namespace

PerfRecord DecodePerfRecord(std::span<const uint8_t> bytes, uint64_t sample_type) {
  PerfRecord record;
  perf_event_header header;
  if (bytes.size() < sizeof header) return record;
  std::memcpy(&header, bytes.data(), sizeof header);
  const auto body = bytes.subspan(sizeof header);
  if (header.type == PERF_RECORD_SAMPLE) {
    ByteReader in(body, 0);
    ReadSample(in, header.misc, sample_type, record);
    if (!in.ok()) record.kind = PerfKind::kOther;
    return record;
  }
  if (body.size() < kTrailerBytes) return record;
  ByteReader trailer(body.last(kTrailerBytes), 0);
  record.pid = trailer.Read<uint32_t>();
  record.tid = trailer.Read<uint32_t>();
  record.at_ns = trailer.Read<int64_t>();
  record.cpu = trailer.Read<uint32_t>();
  ByteReader in(body.first(body.size() - kTrailerBytes), 0);
  ReadOther(in, header, record);
  if (!in.ok()) record.kind = PerfKind::kOther;
  return record;
}

}  // namespace batchlight::capture
