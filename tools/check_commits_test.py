#!/usr/bin/env python3
"""Which subjects of commits pass."""
import unittest

from check_commits import fault


class Subjects(unittest.TestCase):
    def test_fine(self):
        for subject in ('web: draw the axis', 'analysis, ingest: no pass for gains that nobody sees',
                        'src/inject: drop it', 'web: TypeScript formatted by clang-format',
                        'tests: Python lines', 'report: GPU first', 'page: 3 ranks'):
            self.assertEqual(fault(subject), '', subject)

    def test_faults(self):
        for subject, wrong in (('web: ' + 'x' * 56, 'characters'), ('draw the axis', 'area'),
                               ('Web: draw the axis', 'area'), ('web:draw the axis', 'area'),
                               ('web: ', 'area'), ('web: Draw the axis', 'capital')):
            self.assertIn(wrong, fault(subject), subject)


if __name__ == '__main__':
    unittest.main()
