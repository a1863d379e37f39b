#!/usr/bin/env python3
"""What check_kinds.py finds."""
import unittest

import check_kinds

SOURCE = '''
KIND_BEGIN(MemoryKind, u8, "ENUM_CUDA_MEM_KIND", "where memory lies")
  KIND(Pageable, 0, "Pageable", "Pageable", "CUDA_PAGEABLE")
  KIND(Device, 2, "Device", "Device", "CUDA_DEVICE")
KIND_END(MemoryKind)
KIND_BEGIN(Phase, u8, "", "a phase")
#include "format/phases.def"
KIND_END(Phase)
'''
KINDS = check_kinds.kinds(SOURCE, 'PHASE(Backward, 1, "backward")\n')


class CheckKinds(unittest.TestCase):
    def found(self, line, path='src/analysis/x.cpp'):
        return len(list(check_kinds.violations(path, line, check_kinds.rules(KINDS))))

    def test_kinds_are_read_with_the_phases(self):
        self.assertEqual(KINDS, {'MemoryKind': ['Pageable', 'Device'], 'Phase': ['Backward']})

    def test_ways_around_the_kinds(self):
        for line in ('if (calls.phase[row] == static_cast<uint8_t>(format::Phase::kBackward)) {',
                     'build.Phase(thread, int(Phase::kBackward), "x");',
                     'const auto kind = static_cast<MemoryKind>(2);',
                     'const MemoryKind kind{2};  x = MemoryKind{2};',
                     'if (Number(events.memory_kind[row]) > 1) {',
                     'constexpr uint8_t kPageable = 0;'):
            self.assertGreaterEqual(self.found(line), 1, line)

    def test_what_is_fine(self):
        for line in ('if (calls.phase[row] == Phase::kBackward) {',
                     'insert.Int(Number(calls.event_class[row]));',
                     'kind = static_cast<MemoryKind>(key);',
                     'const int count = Number(range) + 1;',
                     'constexpr uint32_t kDevice = 3;  // of something else',
                     '// static_cast<uint8_t>(Phase::kBackward) is no way'):
            self.assertEqual(self.found(line), 0, line)

    def test_decoders_and_tests(self):
        self.assertEqual(self.found('kind = static_cast<MemoryKind>(2);', 'src/ingest/x.cpp'), 0)
        self.assertEqual(self.found('Label(MemoryKind{99})', 'src/store/x_test.cpp'), 0)
        self.assertEqual(self.found('constexpr uint8_t kDevice = 2;', 'src/report/x_test.cpp'), 1)

    def test_a_byte_is_of_a_kind(self):
        schema = 'COLUMN(u8, flag, "")\n  COLUMN(u32, id, "")\n  COLUMN(MemoryKind, kind, "")'
        self.assertEqual(check_kinds.bare_columns(schema), ['flag'])

    def test_phases_of_the_bridge(self):
        phases = 'PHASE(Backward, 1, "backward")\nPHASE(ZeroGrad, 3, "zero_grad")\n'
        self.assertEqual(list(check_kinds.wrong_phases('BACKWARD, ZERO_GRAD = 1, 3\n', phases)), [])
        self.assertEqual(list(check_kinds.wrong_phases('BACKWARD = 1\nZERO_GRAD = 2\n', phases)),
                         ['ZERO_GRAD = 2'])


if __name__ == '__main__':
    unittest.main()
