// Records of NVTX: ranges, marks, names, payloads and their layouts.
#pragma once

#include <array>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ingest/decode/chunk_context.h"
#include "ingest/decode/outside_rows.h"

namespace batchlight {

class NvtxDecoder {
 public:
  NvtxDecoder(ChunkContext& context, const RecordedParts& parts)
      : context_(context), outside_(parts) {}

  void BeginPiece();
  void BeginChunk() { domains_.clear(); }
  void Decode(const format::RecordView& view);
  // Events are missing from here on: ranges still open end at `at_ns`.
  void Cut(int64_t at_ns);
  void EndPiece();

 private:
  // A row whose extended payload may still follow.
  enum class Owner : uint8_t { kNone, kRange, kMark };
  struct Extras {  // what RangePushEx, RangeStart and Mark have in common
    uint32_t category;
    uint32_t color;
    uint16_t flags;
    uint16_t payload_type;
    uint64_t payload;
  };

  void Push(const format::RecordView& view);
  void PushEx(const format::RecordView& view);
  void Pop(int64_t at_ns, NvtxDomainId domain);
  void Start(const format::RecordView& view);
  void End(const format::RecordView& view);
  void Mark(const format::RecordView& view);
  void Blob(const format::RecordView& view);
  void Schema(const format::RecordView& view);
  void Enum(const format::RecordView& view);
  void Name(const format::RecordView& view);

  void OpenRange(int64_t start_ns, NvtxDomainId domain, StringId message,
                 NvtxAttributesId attributes, bool registered);
  uint32_t Rows() const {
    return static_cast<uint32_t>(context_.fragment.store.nvtx_ranges.start_ns.size());
  }
  void EndRange(uint32_t row, int64_t end_ns);
  NvtxAttributesId Attributes(const Extras& extras);
  void AttachBlobs(NvtxAttributesId& attributes, uint32_t first, uint32_t count);
  NvtxAttributesId* OwnerAttributes();
  NvtxDomainId Domain(uint32_t ref);
  Nesting& NestingOf(NvtxDomainId domain);

  ChunkContext& context_;
  OutsideRows outside_;
  Nesting default_nesting_;
  std::vector<Nesting> domain_nestings_;                    // by fragment's domain row
  std::vector<NvtxDomainId> active_domains_;                // of this piece
  std::vector<std::pair<bool, NvtxDomainId>> domains_;      // of this chunk: string ref → domain
  std::unordered_map<uint64_t, NvtxDomainId> domain_rows_;  // (process, name) → row
  std::unordered_map<uint64_t, uint32_t> open_ranges_;      // of this piece: range_id → row
  std::optional<int64_t> cut_ns_;                           // of this piece: the first cut
  std::array<NvtxAttributesId, 64> recent_attributes_{};    // by hash

  Owner owner_ = Owner::kNone;
  uint32_t owner_row_ = 0;
  bool pending_pop_ = false;  // payload blobs wait for the end of their range
  uint32_t pending_first_ = 0;
  uint32_t schema_entries_left_ = 0;
  uint32_t enum_entries_left_ = 0;
  NvtxPayloadEnumValuesRow enum_row_;
};

}  // namespace batchlight
