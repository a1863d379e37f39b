#!/usr/bin/env python3
"""How iterations and stages are measured, what is judged right, and that every program can be judged."""
import pathlib
import re
import sys
import unittest

import score
import ten_seconds
from requirements import as_for
from truth import Truth, read_header

HERE = pathlib.Path(__file__).resolve().parent


def truth_of(moments, ends):
    truth = Truth(str(HERE / 'programs' / 'loops' / 'plain_loop.py'))
    truth.moments, truth.ends = moments, ends
    return truth


class Measured(unittest.TestCase):
    def test_iterations_are_time_in_training(self):
        moments = [('start-up', 0), ('training', 1), ('validation', 3), ('training', 10), ('shutdown', 12)]
        truth = truth_of(moments, [2, 11, 12])
        self.assertEqual(truth.durations(13), [1, 2, 1])  # the second: 2 to 3 and 10 to 11
        account = truth.account(13)
        self.assertEqual(sum(account['stages'].values()), account['wall_s'])
        self.assertEqual(account['loop_s'], 11)


class TenSeconds(unittest.TestCase):
    CLOCK = {'iterations': 40, 'step_ms_median': 100.0, 'loop_seconds': 6.0, 'validation_seconds': 2.0,
             'setup_seconds': 3.8, 'advice': ['dataloader-wait']}

    def told(self, stages=None, steps=40, median_s=0.098, rule='dataloader-wait', screen='1 It waits (1 ms)',
             bar=None, **clock):
        truth = ten_seconds.truth_of('no such file', HERE, {**self.CLOCK, **clock})
        finding = {'Rule': rule, 'Problem': 'It waits', 'Gain per Step (ns)': 1e7}
        said = {'summary': {'steps': steps, 'median_s': median_s, 'longest_bar': bar,
                            'stages': stages or {'training': 4.1, 'preprocessing': 3.0, 'start-up': 0.9, 'validation': 2}},
                'advice': [{**finding, 'Rule': 'cpu-taken', 'Problem': 'Others'}, finding]}
        return [right for _, right in ten_seconds.answers(truth, said, '1 Others 2 ' + screen[2:]).values()]

    def test_three_answers(self):
        self.assertEqual(self.told(), [True, True, True])
        self.assertEqual(self.told({'training': 4.0, 'validation': 6.0}), [False, True, True])
        self.assertEqual(self.told({'training': 9.0}, bar='preprocessing'), [True, True, True], 'a bar, not a sum')
        self.assertEqual(self.told({'training': 9.0}, bar='shutdown'), [False, True, True])
        self.assertEqual(self.told(steps=80), [True, False, True])
        self.assertEqual(self.told(median_s=0.106), [True, False, True])
        self.assertEqual(self.told(rule='launch-bound'), [True, True, False])
        self.assertEqual(self.told(advice=['none']), [True, True, False])
        self.assertEqual(self.told(screen='1 Nothing'), [True, True, False], 'what nobody sees is not told')

    def test_what_the_program_does_not_say_is_not_judged(self):
        self.assertEqual(self.told(step_ms_median=None), [True, None, None])
        self.assertEqual(self.told(loop_seconds=0, validation_seconds=0, setup_seconds=0), [None, True, True])

    def test_the_clock_is_the_last_line_of_numbers(self):
        text = 'epoch 1 {"loss": 3}\n{"iterations": 3}\nlast: {"iterations": 4}\n{"iterations": bad\ndone'
        self.assertEqual(ten_seconds.last_clock(text), {'iterations': 4})


class Judged(unittest.TestCase):
    def row(self, advice, wanted='none', **changes):
        truth = {'advice': [wanted], 'iterations': 11, 'median_s': 1.0, 'first_s': 5.0, 'loop_s': 15.0,
                 'wall_s': 17.0, 'stages': {'start-up': 1.0, 'set-up': 1.0, 'training': 15.0}}
        summary = {'steps': 11, 'median_s': 1.04, 'stages': {'training': 14.0, 'start-up': 2.0}}
        return {'recorded': {**truth, **changes}, 'header': {}, 'changed': [],
                'said': {'summary': summary, 'advice': advice}}

    def finding(self, rule, gain_s):
        return {'Rule': rule, 'Gain per Step (ns)': gain_s * 1e9}

    def test_all_right(self):
        self.assertEqual(set(score.judge(self.row([]))['right'].values()), {True})

    def test_wrong_count_time_and_stage(self):
        right = score.judge(self.row([], iterations=22, median_s=0.5,
                                     stages={'training': 7.0, 'validation': 10.0}))['right']
        self.assertEqual([right['iterations'], right['time'], right['stages']], [False] * 3)

    def test_a_good_program_is_left_in_peace(self):
        small, large = self.finding('uneven-steps', 0.04), self.finding('uneven-steps', 0.06)
        self.assertTrue(score.judge(self.row([small]))['right']['advice'])
        self.assertFalse(score.judge(self.row([large]))['right']['advice'])
        no_number = {'Rule': 'too-many-threads', 'Gain per Step (ns)': ''}
        self.assertFalse(score.judge(self.row([no_number]))['right']['advice'])

    def test_other_programs_on_the_machine_are_no_advice(self):
        others = self.finding('cpu-taken', 0.5)
        self.assertTrue(score.judge(self.row([others]))['right']['advice'])
        advice = [others, self.finding('dataloader-wait', 0.4)]
        self.assertTrue(score.judge(self.row(advice, wanted='dataloader-wait'))['right']['advice'])

    def test_only_the_first_finding_counts(self):
        advice = [self.finding('uneven-steps', 0.5), self.finding('dataloader-wait', 0.4)]
        verdict = score.judge(self.row(advice, wanted='dataloader-wait'))
        self.assertFalse(verdict['right']['advice'])
        self.assertAlmostEqual(verdict['said_gain'], 0.4)  # of the 10 s behind the first iteration

    def test_true_gain_is_of_the_fastest_rounds(self):
        row = self.row([])
        slow, fast = row['recorded'], {**row['recorded'], 'loop_s': 10.0}
        row.update(alone=[{**slow, 'loop_s': 30.0}, slow], changed=[fast])
        self.assertAlmostEqual(score.true_gain(row), 0.5)


    def test_a_good_program_may_also_gain(self):
        row = self.row([self.finding('unfused-optimizer-cpu', 0.1)])
        row['recorded']['advice'] = ['none', 'unfused-optimizer-cpu']
        self.assertTrue(score.judge(row)['right']['advice'])
        row['said']['advice'] = []
        self.assertTrue(score.judge(row)['right']['advice'])


class Programs(unittest.TestCase):
    def test_a_rule_may_be_right_only_where_something_is(self):
        header = {'advice': 'none|rule@no_such_package|other@json'}
        self.assertEqual(as_for(header, sys.executable)['advice'], 'none|other')

    def test_every_program_can_be_judged(self):
        rules = (HERE.parent.parent / 'src/analysis/advice/rules.def').read_text()
        known = {'none', *re.findall(r'RULE\(\s*"([a-z0-9-]+)"', rules)}
        paths = list(HERE.glob('programs/*/*.py'))
        self.assertGreaterEqual(len(paths), 40)
        for path in paths:
            header, text = read_header(path), path.read_text()
            rules_of = {rule.partition('@')[0] for rule in header['advice'].split('|')}
            self.assertLessEqual(rules_of, known, path.name)
            self.assertIn('.iteration()', text, path.name)
            if header['advice'] != 'none' and 'change' not in header:
                self.assertTrue('.fixed' in text or '--fixed' in text, path.name)


if __name__ == '__main__':
    unittest.main()
