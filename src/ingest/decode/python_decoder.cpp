#include "ingest/decode/python_decoder.h"

namespace batchlight {

using format::RecordKind;

void PythonDecoder::Decode(const format::RecordView& view) {
  switch (view.kind) {
    case RecordKind::kPythonFunction:
      return Take(view.As<format::PythonFunctionRecord>());
    case RecordKind::kPythonCaller:
      return Take(view.As<format::PythonCallerRecord>());
    case RecordKind::kPythonLine:
      return Take(view.As<format::PythonLineRecord>());
    case RecordKind::kPythonSource:
      return Take(view.As<format::PythonSourceRecord>());
    default:
      return;
  }
}

void PythonDecoder::Take(const format::PythonFunctionRecord& record) {
  if (record.id == 0) return;
  PythonFunctionsTable& table = context_.fragment.store.python_functions;
  functions_[record.id] = PythonFunctionId::At(table.size());
  table.Append({.thread = context_.thread,
                .file = context_.String(record.file),
                .name = context_.String(record.name),
                .first_line = record.first_line,
                .thinned = (record.flags & 1) != 0 ? YesNo::kYes : YesNo::kNo,
                .lines_only = (record.flags & 2) != 0 ? YesNo::kYes : YesNo::kNo,
                .calls = record.calls,
                .primitive_calls = record.primitive_calls,
                .resumptions = record.resumptions,
                .self_ns = context_.LengthNs(record.self_ticks),
                .total_ns = context_.LengthNs(record.total_ticks)});
}

void PythonDecoder::Take(const format::PythonCallerRecord& record) {
  if (Function(record.function).IsNone()) return;
  context_.fragment.store.python_callers.Append(
      {.function = Function(record.function),
       .caller = Function(record.caller),
       .calls = record.calls,
       .primitive_calls = record.primitive_calls,
       .self_ns = context_.LengthNs(record.self_ticks),
       .total_ns = context_.LengthNs(record.total_ticks)});
}

void PythonDecoder::Take(const format::PythonLineRecord& record) {
  if (Function(record.function).IsNone()) return;
  context_.fragment.store.python_lines.Append({.function = Function(record.function),
                                               .line = record.line,
                                               .hits = record.hits,
                                               .time_ns = context_.LengthNs(record.ticks),
                                               .grown_bytes = record.grown_bytes,
                                               .allocated_bytes = record.allocated_bytes,
                                               .memory_bytes = record.resident_bytes});
}

void PythonDecoder::Take(const format::PythonSourceRecord& record) {
  context_.fragment.store.python_sources.Append({.process = context_.process,
                                                 .file = context_.String(record.file),
                                                 .name = context_.String(record.name),
                                                 .first_line = record.first_line,
                                                 .text = context_.String(record.text)});
}

}  // namespace batchlight
