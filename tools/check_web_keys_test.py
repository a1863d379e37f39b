#!/usr/bin/env python3
"""What check_web_keys.py finds."""
import unittest

import check_web_keys


class CheckWebKeys(unittest.TestCase):
    def test_titles_and_places(self):
        for line in ('columns.find((column) => column.name === "Kind")',
                     'tables.find(({name}) => name === "kernels")',
                     'return process.exit === "exit 0" ? "good" : "";',
                     'help: column.help.replace("In the whole run", "In these steps")',
                     'names.every((name) => name.startsWith("rank"))',
                     'const [names, shapes, calls] = table.cells;',
                     'const key = cells[0][row];'):
            self.assertEqual(len(check_web_keys.faults(line)), 1, line)

    def test_what_is_fine(self):
        for line in ('columns.find((column) => column.key === "kind")',
                     'metrics.filter(({name}) => name !== "")',
                     r'help.replace(/\{(\w+)\}/g, fill)',
                     'return table.cells[0]?.length ?? 0;'):
            self.assertEqual(check_web_keys.faults(line), [], line)


if __name__ == '__main__':
    unittest.main()
