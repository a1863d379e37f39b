#!/usr/bin/env python3
"""What check_local_names.py finds."""
import unittest

import check_local_names


def source(*lines):
    return '\n'.join(['namespace batchlight {', 'namespace {', '', *lines, '', '}  // namespace',
                      '', 'int Shared() { return 0; }', '}  // namespace batchlight', ''])


def faults(one, other, header=''):
    shared = check_local_names.shared_names([('a.h', 'namespace batchlight {\n' + header)])
    return list(check_local_names.faults([('a.cpp', source(*one)), ('b.cpp', source(*other))], shared))


class CheckLocalNames(unittest.TestCase):
    def test_one_name_for_two_things(self):
        for one, other in (
                (['constexpr double kMost = 0.9;  // of it'], ['constexpr size_t kMost = 3;']),
                (['struct Row {', '  int a;', '};'], ['template <typename Sum>', 'struct Row {', '  Sum a;', '};']),
                (['using Row = int;'], ['using Row = long;']),
                (['class Row final : public Base {', '};'], ['using Row = long;']),
                (['bool Is(const Row& row, int b) {', '}'], ['bool Is(const Row& other, int c) {', '}']),
                (['bool Is(const Row& row,', '        int b) {', '}'], ['bool Is(const Row& r, int) { return false; }']),
                (['bool Is() { return true; }'], ['constexpr bool Is = true;']),
                (['constexpr Rule kRules[] = {', '    {1}};'], ['constexpr auto kRules = std::to_array({1});'])):
            self.assertEqual(len(faults(one, other)), 1, (one, other))

    def test_a_name_of_a_header(self):
        for header in ('struct Row {', 'inline constexpr Row Row{', 'using Row = int;', 'enum class Row { kOne };'):
            expected = 0 if 'constexpr' in header else 1  # constants begin with k
            self.assertEqual(len(faults(['struct Row {', '};'], [], header)), expected, header)
        self.assertEqual(faults(['constexpr int kRow = 1;'], [], 'inline constexpr std::array<int, 2> kRow = {1};'),
                         ['a.cpp:4: kRow is also a name of a.h:2'])
        self.assertEqual(faults(['bool Row(int) { return true; }'], [], 'struct Row {'), [])

    def test_a_constant_beside_the_unnamed_namespace(self):
        beside = 'namespace batchlight {\nconstexpr int kMost = 1;\n}  // namespace batchlight\n'
        found = list(check_local_names.faults([('a.cpp', source('constexpr int kMost = 2;')), ('b.cpp', beside)], {}))
        self.assertEqual(len(found), 1, found)

    def test_what_is_fine(self):
        for one, other in (
                (['bool Is(const Row& row) {', '}'], ['bool Is(const Step& row) {', '}']),
                (['using format::RecordKind;'], ['using format::RecordKind;']),
                (['using namespace one;'], ['using namespace one;']),
                (['using enum Kind;'], ['using enum Kind;']),
                (['bool One() { return true; }'], ['bool Two() { return true; }']),
                (['class Row;'], ['struct Other {', '  int Row;', '};'])):
            self.assertEqual(faults(one, other), [], (one, other))


if __name__ == '__main__':
    unittest.main()
