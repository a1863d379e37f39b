#!/usr/bin/env python3
"""What check_copies.py finds."""
import unittest

import check_copies


def found(**texts):
    files = {name: check_copies.code_lines(text, '.cpp') for name, text in texts.items()}
    return list(check_copies.faults(files))


def lines(count, start=0):
    return ''.join(f'int x{start + i} = {i};\n' for i in range(count))


class CheckCopies(unittest.TestCase):
    def test_over_ten_lines_are_a_copy(self):
        self.assertEqual(found(a=lines(10), b=lines(10)), [])
        self.assertEqual(found(a=lines(11), b='int y;\n' + lines(11)),
                         ['a:1-11 ~ b:2-12: the same 11 lines: write them once'])

    def test_a_long_copy_is_told_once(self):
        self.assertEqual(found(a=lines(30), b=lines(30)),
                         ['a:1-30 ~ b:1-30: the same 30 lines: write them once'])

    def test_every_other_place_is_told(self):
        self.assertEqual(len(found(a=lines(12), b=lines(12), c=lines(12))), 2)

    def test_comments_space_and_brackets_do_not_count(self):
        spread = lines(6) + '// why\n\n{\n' + lines(5, 6).replace(' = ', '  =  ')
        self.assertEqual(found(a=lines(6) + lines(5, 6), b=spread),
                         ['a:1-11 ~ b:1-14: the same 11 lines: write them once'])
        self.assertEqual(found(a='}\n' * 40, b='}\n' * 40), [])

    def test_within_one_file(self):
        self.assertEqual(found(a=lines(11) + 'int y;\n' + lines(11)),
                         ['a:1-11 ~ a:13-23: the same 11 lines: write them once'])

    def test_equal_lines_in_a_row_are_no_copy_of_themselves(self):
        self.assertEqual(found(a='next();\n' * 15), [])

    def test_what_is_included_is_code(self):
        self.assertEqual(check_copies.code_lines('#include <array>\n', '.h'), [(1, '#include <array>')])
        self.assertEqual(check_copies.code_lines('# why\nx = 1\n', '.py'), [(2, 'x = 1')])


if __name__ == '__main__':
    unittest.main()
