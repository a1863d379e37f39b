// Byte layout of a recording: what libbatchlight_inject.so writes and the tool reads. FORMAT.md
// says the same in words. Little endian, no pointers, nothing here allocates.
#pragma once

#include <cstddef>
#include <cstdint>

namespace batchlight::format {

inline constexpr uint32_t kFormatVersion = 12;
inline constexpr uint32_t kPageBytes = 4096;
inline constexpr uint32_t kMaxStringBytes = 64 * 1024;  // longer names are cut and counted

// ------------------------------------------------------------------------------------------------
// A chunk: a piece of one thread's stream. Self-contained: its strings are defined inside it, its
// times are relative to its own clock base, so that it can be decoded alone, in parallel, and so
// that damage costs one chunk. In a live process file chunks lie at multiples of 4096 bytes.
//
//   +--------------------+--------+--------+--------+-----+----------------+
//   | ChunkHeader (128)  | record | record | record | ... | zeros          |
//   +--------------------+--------+--------+--------+-----+----------------+
//
// The writer stores the first 8 bytes of a record last (release order), so a record is complete
// if its head is not zero: a killed process leaves a readable chunk without any closing write.
inline constexpr uint32_t kChunkMagic = 0x314b4342;  // "BCK1"

struct ChunkHeader {
  uint32_t magic;             // kChunkMagic; written last when the chunk is opened
  uint16_t version;           // kFormatVersion
  uint16_t header_bytes;      // sizeof(ChunkHeader): a newer writer may make it larger
  uint32_t chunk_bytes;       // whole chunk with header, multiple of 4096
  uint32_t used_bytes;        // with header; 0 while the chunk is open
  uint32_t pid;               // 0 = the tool's own chunk
  uint32_t tid;               // operating system thread id
  uint32_t thread_index;      // ordinal of the thread in its process, from 0; never reused
  uint32_t chunk_index;       // ordinal of the chunk in its thread, from 0
  uint32_t capture_index;     // which start/stop window the events belong to, from 0
  uint32_t clock_kind;        // ClockKind
  int64_t attach_ns;          // CLOCK_MONOTONIC when the process was attached: tells pids apart
  uint64_t base_ticks;        // record times are relative to this
  int64_t base_monotonic_ns;  // CLOCK_MONOTONIC at base_ticks
  uint64_t end_ticks;         // a second pair, written when the chunk is closed; 0 while open
  int64_t end_monotonic_ns;
  uint64_t ticks_per_second;  // the writer's estimate, for chunks without a second pair
  uint64_t reserved[5];
};
static_assert(sizeof(ChunkHeader) == 128);

enum class ClockKind : uint32_t {
  kTsc = 0,        // invariant time stamp counter of the processor
  kMonotonic = 1,  // CLOCK_MONOTONIC, ns: base_ticks == base_monotonic_ns
};

// Head of every record, one 64-bit word:
//
//   63                    16 15          8 7          0
//   +-----------------------+-------------+------------+
//   | ticks since base (48) | size, words | kind       |
//   +-----------------------+-------------+------------+
//
// size counts 8-byte words, head included. Size 0: the second word holds the size instead and the
// fields start at the third (records with many bytes).
inline constexpr uint64_t kMaxTicksInChunk = (uint64_t{1} << 48) - 1;

constexpr uint64_t MakeHead(uint8_t kind, uint64_t words, uint64_t ticks_since_base) {
  return (ticks_since_base << 16) | (words << 8) | kind;
}
constexpr uint8_t HeadKind(uint64_t head) { return static_cast<uint8_t>(head); }
constexpr uint64_t HeadWords(uint64_t head) { return (head >> 8) & 0xff; }
constexpr uint64_t HeadTicks(uint64_t head) { return head >> 16; }

// CUDA records count CUPTI's nanoseconds in place of ticks, from GpuTimeBase::base_ns: biased, so
// that work that began before the base fits (39 hours either way).
inline constexpr int64_t kGpuTimeBias = int64_t{1} << 47;

// ------------------------------------------------------------------------------------------------
// A sealed recording NAME.batchlight: one file, written by the tool from the live folder.
//
//   FileHeader | BlockHeader payload | BlockHeader payload | ... | index payload | FileTrailer
//
// Each block holds one chunk, cut to its used bytes, usually compressed. The index repeats every
// BlockHeader's place; a file whose end is missing is read by walking the blocks from the front.
inline constexpr char kFileMagic[8] = {'B', 'L', 'I', 'G', 'H', 'T', '1', '\n'};
inline constexpr uint32_t kBlockMagic = 0x314b4c42;  // "BLK1"

struct FileHeader {
  char magic[8];
  uint32_t version;
  uint32_t header_bytes;
  uint64_t reserved[6];
};
static_assert(sizeof(FileHeader) == 64);

enum class BlockKind : uint16_t { kChunk = 1, kIndex = 2 };
enum class BlockCodec : uint16_t { kRaw = 0, kZstd = 1 };

struct BlockHeader {
  uint32_t magic;
  BlockKind kind;
  BlockCodec codec;
  uint32_t stored_bytes;  // bytes that follow; padded with zeros to a multiple of 8
  uint32_t raw_bytes;     // after decompression; at most kMaxBlockBytes
  uint64_t checksum;      // XXH3-64 of the stored bytes
};
static_assert(sizeof(BlockHeader) == 24);
inline constexpr uint32_t kMaxBlockBytes = 64u << 20;

struct IndexEntry {  // payload of the index block: one per chunk block
  uint64_t offset;   // of the BlockHeader in the file
  uint32_t pid;
  uint32_t thread_index;
};
static_assert(sizeof(IndexEntry) == 16);

struct FileTrailer {
  uint64_t index_offset;  // of the index block's header
  uint64_t block_count;   // chunk blocks
  char magic[8];          // kFileMagic
};
static_assert(sizeof(FileTrailer) == 24);

}  // namespace batchlight::format
