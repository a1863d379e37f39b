#include "ingest/decode/call_decoder.h"

#include <string>

#include "ingest/common/shapes_text.h"

namespace batchlight {
namespace {

using format::RecordKind;
using format::RecordView;

template <typename Table>
uint32_t Rows(const Table& table) {
  return static_cast<uint32_t>(table.start_ns.size());
}

template <typename Table>
void End(Table& table, Nesting& nesting, int64_t end_ns, OutsideRows* outside = nullptr) {
  const uint32_t row = nesting.Pop(end_ns, Rows(table));
  if (row != kNoRow) table.end_ns[row] = end_ns;
  if (outside == nullptr) return;
  if (row != kNoRow) {
    outside->Ended(table, row);
  } else {
    outside->Keep(Rows(table));
  }
}

}  // namespace

void CallDecoder::BeginPiece() {
  const Store& store = context_.fragment.store;
  const ThreadId thread = context_.thread;
  modules_.Begin(thread, NvtxDomainId::None(), Rows(store.module_calls));
  phases_.Begin(thread, NvtxDomainId::None(), Rows(store.phase_calls));
  operators_.Begin(thread, NvtxDomainId::None(), Rows(store.operator_calls));
  outside_modules_.Keep(Rows(store.module_calls));
  outside_operators_.Keep(Rows(store.operator_calls));
}

void CallDecoder::Decode(const RecordView& view) {
  Store& store = context_.fragment.store;
  switch (view.kind) {
    case RecordKind::kModuleBegin:
      return BeginModule(view);
    case RecordKind::kModuleEnd:
      return End(store.module_calls, modules_, context_.Now(view.ticks), &outside_modules_);
    case RecordKind::kPhaseBegin:
      return BeginPhase(view);
    case RecordKind::kPhaseEnd:
      return End(store.phase_calls, phases_, context_.Now(view.ticks));
    case RecordKind::kImportedFile: {
      const auto record = view.As<format::ImportedFileRecord>();
      if (phases_.parent() == kNoRow)
        phases_.Note(static_cast<uint32_t>(store.imported_files.size()));
      store.imported_files.Append({.phase_call = {phases_.parent()},
                                   .file = context_.String(record.file),
                                   .bytes = record.bytes});
      return;
    }
    case RecordKind::kOpBegin:
      return BeginOperator(view);
    case RecordKind::kOpEnd:
      return End(store.operator_calls, operators_, context_.Now(view.ticks), &outside_operators_);
    default:
      return;
  }
}

void CallDecoder::BeginModule(const RecordView& view) {
  const auto record = view.As<format::ModuleBeginRecord>();
  ModuleCallsTable& table = context_.fragment.store.module_calls;
  const uint32_t row = Rows(table);
  table.Append({.start_ns = context_.Now(view.ticks),
                .end_ns = kOpenEnd,
                .thread = context_.thread,
                .path = context_.String(record.path),
                .class_name = context_.String(record.class_name),
                .parent = {modules_.parent()},
                .depth = ShortDepth(modules_.depth())});
  modules_.Push(row);
}

void CallDecoder::BeginPhase(const RecordView& view) {
  const auto record = view.As<format::PhaseBeginRecord>();
  PhaseCallsTable& table = context_.fragment.store.phase_calls;
  const uint32_t row = Rows(table);
  table.Append({.start_ns = context_.Now(view.ticks),
                .end_ns = kOpenEnd,
                .thread = context_.thread,
                .phase = static_cast<Phase>(record.phase),
                .name = context_.String(record.name),
                .parent = {phases_.parent()},
                .depth = ShortDepth(phases_.depth())});
  phases_.Push(row);
}

void CallDecoder::BeginOperator(const RecordView& view) {
  const auto record = view.As<format::OpBeginRecord>();
  OperatorCallsTable& table = context_.fragment.store.operator_calls;
  const uint32_t row = Rows(table);
  const InputTexts texts = Inputs(record.shapes);
  table.Append({.start_ns = context_.Now(view.ticks),
                .end_ns = kOpenEnd,
                .thread = context_.thread,
                .name = context_.String(record.name),
                .shapes = texts.shapes,
                .sequence = record.sequence,
                .forward_thread = record.forward_thread,
                .parent = {operators_.parent()},
                .depth = ShortDepth(operators_.depth()),
                .scope = static_cast<OperatorScope>(record.scope),
                .inputs = texts.inputs,
                .python_stack = stacks_.Stack(record.stack)});
  operators_.Push(row);
}

CallDecoder::InputTexts CallDecoder::Inputs(uint32_t ref) {
  const StringId binary = context_.String(ref);
  if (binary.IsNone()) return {};
  if (ref >= inputs_.size()) inputs_.resize(ref + 1);
  InputTexts& texts = inputs_[ref];
  if (texts.shapes.IsNone()) {
    StringPool& strings = context_.fragment.store.strings;
    texts = {strings.Intern(ShapesText(strings.Get(binary))),
             strings.Intern(InputsText(strings.Get(binary)))};
  }
  return texts;
}

void CallDecoder::Cut(int64_t at_ns) {
  Store& store = context_.fragment.store;
  uint64_t open = 0;
  const auto cut = [&](auto& table, Nesting& nesting) {
    for (const uint32_t row : nesting.Cut(at_ns, Rows(table))) {
      table.end_ns[row] = std::max(table.start_ns[row], at_ns);
      ++open;
    }
  };
  cut(store.module_calls, modules_);
  cut(store.phase_calls, phases_);
  cut(store.operator_calls, operators_);
  outside_modules_.Keep(Rows(store.module_calls));
  outside_operators_.Keep(Rows(store.operator_calls));
  context_.fragment.Count(context_.process, format::Counter::kRangesOpenAtEnd, open);
}

void CallDecoder::EndPiece() {
  Fragment& fragment = context_.fragment;
  fragment.AddPiece(NestedTable::kModuleCalls, modules_.Finish(Rows(fragment.store.module_calls)));
  fragment.AddPiece(NestedTable::kPhaseCalls, phases_.Finish(Rows(fragment.store.phase_calls)));
  fragment.AddPiece(NestedTable::kOperatorCalls,
                    operators_.Finish(Rows(fragment.store.operator_calls)));
}

}  // namespace batchlight
