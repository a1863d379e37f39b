#!/usr/bin/env python3
"""The ten-second test: does the first screen say where a run's time went, what a step is, and what to change?

    bench/advice/ten_seconds.py FOLDER [--build build/release] [--truths FILE]

FOLDER holds a recording of each program, NAME.batchlight or NAME.profile.batchlight. The truth of each stands in
FOLDER/truths.json (or FILE), in what the recorded program printed, or beside it as `run.py --keep` leaves it;
README.md says how. Prints three answers a program, right or wrong, and how many programs pass.
"""
import argparse
import json
import pathlib
import subprocess
import sys

import score
from run import what_is_said

QUESTIONS = ('the run', 'a step', 'the change')
GOAL = 0.9                 # of the programs of a batch
FEWEST_PROGRAMS = 12       # of a batch
OUTSIDE = {'setup_seconds': 'start-up', 'preprocessing_seconds': 'preprocessing', 'shutdown_seconds': 'shutdown'}
BESIDE_STEPS = {'validation_seconds': 'validation', 'checkpoint_seconds': 'checkpoint', 'between_seconds': 'between'}


def last_clock(text):
    """The last line of JSON with the program's own numbers, or nothing."""
    for line in reversed(text.splitlines()):
        at = line.find('{"')
        if at >= 0 and '"iterations"' in line:
            try:
                return json.loads(line[at:])
            except ValueError:
                continue
    return {}


def stages_of(clock):
    """{stage: seconds} of a clock's line: what its loop does not do beside its steps is training."""
    stages = {name: clock.get(key) or 0 for key, name in {**OUTSIDE, **BESIDE_STEPS}.items()}
    if 'loop_seconds' in clock:
        stages['training'] = clock['loop_seconds'] - sum(stages[name] for name in BESIDE_STEPS.values())
    return {name: spent for name, spent in stages.items() if spent > 0}


def truth_of(name, folder, given):
    """A program's account as truth.py writes one: of run.py's row, or of a clock's line and what is given."""
    kept = folder / f'{name}.json'
    if kept.exists():
        return {**json.loads(kept.read_text())['recorded'], **given}
    logs = [path for path in (folder / f'{name}.recorded.txt', folder / f'{name}.txt') if path.exists()]
    clock = {**(last_clock(logs[0].read_text(errors='replace')) if logs else {}), **given}
    stages = clock.get('stages') or stages_of(clock)
    median_s = (clock.get('step_ms_median') or 0) / 1e3
    in_loop = ('training', 'inference', *BESIDE_STEPS.values())
    loop_s = clock.get('loop_seconds') or sum(spent for stage, spent in stages.items() if stage in in_loop)
    return {'advice': clock.get('advice', []), 'iterations': clock.get('iterations', 0), 'median_s': median_s,
            'first_s': median_s, 'stages': stages, 'wall_s': sum(stages.values()), 'loop_s': loop_s}


def largest(stages):
    return max(stages, key=stages.get) if stages else ''


def true_largest(truth):
    """The stages any of which is right: the largest, and what comes within a tenth of the run of it."""
    seconds = {}
    for stage, spent in truth['stages'].items():
        name = score.STAGE_OF.get(stage, stage)
        seconds[name] = seconds.get(name, 0) + spent
    most = max(seconds.values(), default=0)
    return {name for name, spent in seconds.items() if spent >= most - score.STAGE_TOLERANCE * truth['wall_s']}


def said_largest(truth, summary):
    """The program's word for the longest bar; all before the loop is one where it tells no preprocessing."""
    bar = summary.get('longest_bar') or largest(summary['stages'])
    name = score.STAGE_OF.get(bar, bar)
    return 'start-up' if name == 'preprocessing' and name not in truth['stages'] else name


def screen_of(recording, batchlight):
    """All words of the summary, with one space between two."""
    done = subprocess.run([batchlight, 'summary', str(recording)], capture_output=True, text=True)
    return ' '.join(done.stdout.split())


def first_on_screen(advice, screen):
    """The rule of the first finding under "What to change first"; other programs are no advice."""
    for number, finding in enumerate(advice, 1):
        if finding['Rule'] not in score.OF_THE_MACHINE:
            shown = f'{number} {" ".join(finding["Problem"].split())}' in screen
            return finding['Rule'] if shown else f'{finding["Rule"]}, not on the screen'
    return 'none'


def answers(truth, said, screen):
    """{question: (what is said beside what is true, whether that is right)}; None: the truth is not known."""
    row = {'header': {}, 'alone': [], 'changed': [], 'recorded': truth, 'said': said}
    summary, true_ones = said['summary'], true_largest(truth)
    right = score.judge(row)['right'] if truth['median_s'] and truth['iterations'] > 1 else {}
    stages, name = summary['stages'], said_largest(truth, summary)
    whole = sum(stages.values()) or 1
    percent = 100 * stages.get(name, 0) / whole
    true_name = largest(truth['stages'])
    true_percent = 100 * truth['stages'].get(true_name, 0) / (truth['wall_s'] or 1)
    first = first_on_screen(said['advice'], screen)
    step = (f'{summary["steps"]}/{truth["iterations"]} '
            f'{1e3 * summary.get("median_s", 0):.1f}/{1e3 * truth["median_s"]:.1f} ms')
    told = bool(right) and right['advice'] and ',' not in first
    return {
        'the run': (f'{name} {percent:.0f}/{true_name} {true_percent:.0f} %',
                    name in true_ones if true_ones else None),
        'a step': (step, right['iterations'] and right['time'] if right else None),
        'the change': (f'{first}/{"|".join(truth["advice"])}', told if truth['advice'] and right else None),
    }


def mark(answer):
    text, right = answer
    return text + {True: '', False: ' !', None: ' ?'}[right]


def print_table(results):
    print(f'{"program":<24} {QUESTIONS[0]:<34} {QUESTIONS[1]:<30} {QUESTIONS[2]}')
    print('said/true, ! wrong, ? truth not known')
    for name, result in results.items():
        cells = [mark(result[question]) for question in QUESTIONS]
        print(f'{name:<24} {cells[0]:<34} {cells[1]:<30} {cells[2]}')
    print()
    for question in QUESTIONS:
        known = [result[question][1] for result in results.values() if result[question][1] is not None]
        print(f'{question:<10} right in {sum(known)} of {len(known)}')
    passed = sum(all(right for _, right in result.values()) for result in results.values())
    verdict = 'passed' if passed >= GOAL * len(results) and len(results) >= FEWEST_PROGRAMS else 'not passed'
    print(f'all three  right in {passed} of {len(results)}: {verdict} '
          f'({FEWEST_PROGRAMS} programs or more, nine of ten)')


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('folder', type=pathlib.Path, help='recordings, with their truths')
    parser.add_argument('--build', default='build/release', help='build folder with bin/batchlight')
    parser.add_argument('--truths', type=pathlib.Path, help='{program: truth} as JSON; FOLDER/truths.json')
    options = parser.parse_args()
    path = options.truths or options.folder / 'truths.json'
    given = json.loads(path.read_text()) if path.exists() else {}
    batchlight = str(pathlib.Path(options.build).resolve() / 'bin' / 'batchlight')
    results = {}
    for recording in sorted(options.folder.glob('*.batchlight')):
        name = recording.name.removesuffix('.batchlight').removesuffix('.profile')
        truth = truth_of(name, options.folder, given.get(name, {}))
        results[name] = answers(truth, what_is_said(recording, batchlight), screen_of(recording, batchlight))
    if not results:
        sys.exit(f'no recordings in {options.folder}')
    print_table(results)


if __name__ == '__main__':
    main()
