#include "ingest/decode/record_decoder.h"

#include "format/secrets.h"

namespace batchlight {

using format::RecordKind;
using format::RecordView;

void RecordDecoder::BeginPiece(const ChunkPlace& place) {
  context_.process = place.process;
  context_.thread = place.thread;
  nvtx_.BeginPiece();
  calls_.BeginPiece();
  in_piece_ = true;
  piece_first_ns_ = piece_last_ns_ = place.clock.floor_ns();
}

void RecordDecoder::EndPiece() {
  if (!in_piece_) return;
  nvtx_.EndPiece();
  calls_.EndPiece();
  context_.fragment.spans.push_back({context_.thread, piece_first_ns_, piece_last_ns_});
  in_piece_ = false;
}

void RecordDecoder::Cut(int64_t at_ns) {
  nvtx_.Cut(at_ns);
  calls_.Cut(at_ns);
  context_.fragment.cuts.push_back({context_.thread, at_ns});
}

void RecordDecoder::DecodeChunk(const format::ChunkView& chunk, const ChunkPlace& place) {
  const bool begins_piece = !in_piece_ || place.begins_thread;
  if (begins_piece) {
    EndPiece();
    BeginPiece(place);
  }
  facts_only_ = place.facts_only;
  context_.BeginChunk(chunk, place.clock);
  nvtx_.BeginChunk();
  stacks_.BeginChunk();
  calls_.BeginChunk();
  python_.BeginChunk();
  cuda_.BeginChunk();
  counters_.BeginChunk();
  cpu_.BeginChunk();
  // What was open when collection stopped is taken to have ended at the thread's last event. The
  // events of a missing chunk lie right before this one.
  if (place.new_capture) {
    Cut(begins_piece ? kAtLastEvent : piece_last_ns_);
  } else if (place.after_gap) {
    Cut(place.clock.floor_ns());
  }
  format::RecordReader reader(chunk);
  for (RecordView view; reader.Next(view);) Decode(view);
  piece_last_ns_ = std::max(piece_last_ns_, context_.now_ns());
  if (reader.damaged()) {
    ++context_.fragment.damaged_chunks;
    Cut(piece_last_ns_);
  }
}

void RecordDecoder::Decode(const RecordView& view) {
  const auto kind = static_cast<uint8_t>(view.kind);
  const bool calls = parts_.calls && !facts_only_;
  if (kind >= 16 && kind <= 31) {
    return parts_.ranges && !facts_only_ ? nvtx_.Decode(view) : Skip(view);
  }
  if ((kind >= 40 && kind <= 45) || kind == 51) return calls ? calls_.Decode(view) : Skip(view);
  if ((kind >= 48 && kind <= 50) || (kind >= 56 && kind <= 58)) {
    return calls ? stacks_.Decode(view) : Skip(view);
  }
  if (kind >= 52 && kind <= 55) return python_.Decode(view);
  if (kind <= 11) return DecodeSession(view);
  if (kind >= 83 && kind <= 91) return counters_.Decode(view);
  if (kind >= 128 && kind <= 130) return os_.Decode(view);
  if (kind >= 144 && kind <= 155) return cpu_.Decode(view);
  if (cuda_.Decode(view)) return;
  ++context_.fragment.unknown_records;
}

// The thread was still there at that time.
void RecordDecoder::Skip(const RecordView& view) { context_.Now(view.ticks); }

void RecordDecoder::DecodeSession(const RecordView& view) {
  Fragment& fragment = context_.fragment;
  switch (view.kind) {
    case RecordKind::kString: {
      const auto record = view.As<format::StringRecord>();
      return context_.DefineString(record.id,
                                   view.BytesAfter<format::StringRecord>(record.byte_count));
    }
    case RecordKind::kClockSync: {
      const auto record = view.As<format::ClockSyncRecord>();
      fragment.clock_syncs.push_back({context_.process, record.monotonic_ns, record.realtime_ns});
      return;
    }
    case RecordKind::kCounter: {
      const auto record = view.As<format::CounterRecord>();
      fragment.counters.push_back({context_.process, record.counter, record.value});
      return;
    }
    case RecordKind::kReason: {
      const auto record = view.As<format::ReasonRecord>();
      fragment.store.reasons.Append({.process = context_.process,
                                     .feature = context_.String(record.feature),
                                     .text = context_.String(record.text)});
      return;
    }
    case RecordKind::kProperty: {
      const auto record = view.As<format::PropertyRecord>();
      // Masked already, but in recordings of older versions.
      const std::string value =
          format::PropertyWithoutSecrets(context_.Text(record.key), context_.Text(record.value));
      fragment.store.properties.Append({.process = context_.process,
                                        .key = context_.String(record.key),
                                        .value = fragment.store.strings.Intern(value)});
      return;
    }
    case RecordKind::kCaptureWindow: {
      const auto record = view.As<format::CaptureWindowRecord>();
      fragment.captures.push_back(
          {record.capture_index, record.on != 0, context_.Time(view.ticks)});
      return;
    }
    default:
      return DecodeProcess(view);
  }
}

void RecordDecoder::DecodeProcess(const RecordView& view) {
  Fragment& fragment = context_.fragment;
  switch (view.kind) {
    case RecordKind::kProcessStart: {
      const auto record = view.As<format::ProcessStartRecord>();
      fragment.process_starts.push_back(
          {context_.process, record.parent_pid, context_.String(record.executable),
           context_.String(record.command_line), context_.FromMonotonic(record.start_ns)});
      return;
    }
    case RecordKind::kProcessExit: {
      const auto record = view.As<format::ProcessExitRecord>();
      fragment.process_exits.push_back(
          {context_.process, context_.Time(view.ticks), record.status, record.how});
      return;
    }
    case RecordKind::kProcessStatus: {
      const auto record = view.As<format::ProcessStatusRecord>();
      fragment.process_statuses.push_back({record.pid, record.attach_ns, record.end_ns,
                                           context_.FromMonotonic(record.end_ns),
                                           record.wait_status, record.known != 0});
      return;
    }
    case RecordKind::kThreadName: {
      const auto record = view.As<format::ThreadNameRecord>();
      fragment.thread_names.push_back(
          {context_.process, record.tid, record.source, context_.String(record.name)});
      return;
    }
    case RecordKind::kThreadExit:
      context_.Now(view.ticks);
      return;
    default:
      ++fragment.unknown_records;
      return;
  }
}

}  // namespace batchlight
