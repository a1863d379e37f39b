"""Compares what is said of a program with its truth; README.md says what counts as right."""
import concurrent.futures
import statistics

TIME_TOLERANCE = 0.05      # of an iteration's median
STAGE_SHARE = 0.10         # stages that take as much of the run are to be told
STAGE_TOLERANCE = 0.10     # of the run
NOTHING_TO_GAIN = 0.05     # of an iteration: findings of less leave a good program in peace

# Said of the machine and of other programs on it, whatever the program is.
OF_THE_MACHINE = {'cpu-taken'}

# Our word for a stage, for every one that a summary may use.
STAGE_OF = {
    'start-up': 'start-up', 'startup': 'start-up', 'set-up': 'start-up', 'preprocessing': 'preprocessing',
    'training': 'training', 'inference': 'inference', 'warm-up': 'training', 'compile': 'training', 'graph capture': 'training',
    'validation': 'validation', 'evaluation': 'validation', 'checkpoint': 'checkpoint',
    'between': 'between', 'rollout': 'between',
    'between epochs': 'between', 'between steps': 'between', 'shutdown': 'shutdown', 'other': 'other',
    # kinds of steps, where no stages are said
    'steady': 'training', 'epoch start': 'training', 'partial': 'training',
}


def in_turn(jobs, items, work):
    """work(item) for all, in order, `jobs` at a time."""
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(work, items)


def main_process(processes):
    """The one whose steps a reader takes for the run's: rank 0, else that of the most steps."""
    ranked = [process for process in processes if process['rank'] == 0]
    return (ranked or sorted(processes, key=lambda process: -process['steps']) or [None])[0]


def said_stages(summary, process):
    """{stage: seconds}: the summary's stages; without them the steps by their kind."""
    seconds = {}
    for stage in summary.get('stages', []):
        name = STAGE_OF.get(stage['stage'], stage['stage'])
        seconds[name] = seconds.get(name, 0) + stage['total_ns'] / 1e9
    if not seconds and process:
        for kind, duration in zip(process['kinds'], process['durations_ns']):
            name = STAGE_OF.get(kind, kind)
            seconds[name] = seconds.get(name, 0) + duration / 1e9
    return seconds


def short_summary(summary):
    """The part of `summary --json` that is judged."""
    if summary is None:
        return {'how': 'no summary', 'steps': 0, 'stages': {}}
    process = main_process(summary['steps']['processes'])
    short = {'how': summary['steps']['how'], 'stages': said_stages(summary, process), 'steps': 0}
    bars = [stage for stage in summary.get('stages', []) if not stage['stage'].startswith('batchlight: ')]
    if bars:  # of the program: the recorder is built once, in the first run
        short['longest_bar'] = max(bars, key=lambda stage: stage['total_ns'])['stage']
    if process:
        short.update(steps=process['steps'], median_s=process['duration']['median_ns'] / 1e9,
                     mean_s=process['duration']['mean_ns'] / 1e9)
    return short


def true_stages(truth):
    """{stage: seconds} of those that take a tenth of the run or more."""
    seconds = {}
    for stage, spent in truth['stages'].items():
        name = STAGE_OF.get(stage, stage)
        seconds[name] = seconds.get(name, 0) + spent
    return {name: spent for name, spent in seconds.items() if spent >= STAGE_SHARE * truth['wall_s']}


def cost(row, truth):
    """Seconds of an iteration with the stages between them; of the run where the header says gain=run."""
    if row['header'].get('gain') == 'run':
        return truth['wall_s']
    return (truth['loop_s'] - truth['first_s']) / (truth['iterations'] - 1)


def true_gain(row):
    """Share of an iteration or run that the change saved; the fastest round of each, as others work too."""
    if not row['changed']:
        return None
    slow, fast = (min(cost(row, truth) for truth in row[key]) for key in ('alone', 'changed'))
    return 1 - fast / slow


def said_gain(row, finding):
    """The finding's gain, as a share of what the true gain is a share of; None where it claims none."""
    per_step, of_run = finding['Gain per Step (ns)'], finding.get('Gain of Run (ns)', '')
    if per_step == '' and of_run == '':
        return None
    steps = row['said']['summary']['steps']
    gain_s = ((per_step or 0) * steps + (of_run or 0)) / 1e9
    wanted = 1 if row['header'].get('gain') == 'run' else row['recorded']['iterations']
    return gain_s / wanted / cost(row, row['recorded'])


def judge(row):
    """What is right of what was said: a dict of facts and verdicts."""
    truth, summary = row['recorded'], row['said']['summary']
    advice = [finding for finding in row['said']['advice'] if finding['Rule'] not in OF_THE_MACHINE]
    wanted = truth['advice']
    right = {'iterations': summary['steps'] == truth['iterations']}
    off = summary.get('median_s', 0) / truth['median_s'] - 1
    right['time'] = abs(off) <= TIME_TOLERANCE
    stages = true_stages(truth)
    found = [name for name, spent in stages.items()
             if abs(summary['stages'].get(name, -1e9) - spent) <= STAGE_TOLERANCE * truth['wall_s']]
    right['stages'] = len(found) == len(stages)
    first = advice[0]['Rule'] if advice else 'none'
    first_gain = said_gain(row, advice[0]) if advice else 0.0
    quiet = first_gain is not None and first_gain < NOTHING_TO_GAIN
    right['advice'] = first in wanted or ('none' in wanted and quiet)
    changed = truth['advice'] if 'fix' not in row['header'] else row['header']['fix'].split('|')
    named = [finding for finding in advice if finding['Rule'] in changed]
    return {'right': right, 'off': off, 'stages': stages, 'found': found, 'first': first, 'wanted': wanted,
            'first_gain': first_gain, 'true_gain': true_gain(row),
            'said_gain': said_gain(row, named[0]) if named else None}


def percent(share):
    return '-' if share is None else f'{100 * share:.0f}'


def mark(text, right):
    return f'{text}' if right else f'{text} !'


def line_of(row):
    """One line of the table; ! marks what is wrong."""
    name = f'{row["program"]:<22}'
    if row.get('skipped'):
        return f'{name} skipped, {row["skipped"]}'
    if row.get('failed'):
        return f'{name} failed, {row["failed"]}'
    verdict, truth, summary = judge(row), row['recorded'], row['said']['summary']
    right = verdict['right']
    count = mark(f'{summary["steps"]}/{truth["iterations"]}', right['iterations'])
    times = mark(f'{1e3 * summary.get("median_s", 0):.2f}/{1e3 * truth["median_s"]:.2f}', right['time'])
    stages = mark(f'{len(verdict["found"])}/{len(verdict["stages"])}', right['stages'])
    advice = mark(f'{verdict["first"]} {percent(verdict["first_gain"])}% / {"|".join(verdict["wanted"])}',
                  right['advice'])
    gains = f'{percent(verdict["said_gain"])}/{percent(verdict["true_gain"])}'
    return f'{name} {count:<10} {times:<18} {stages:<6} {advice:<58} {gains}'


HEAD = (f'{"program":<22} {"steps":<10} {"median ms":<18} {"stages":<6} '
        f'{"first advice (its gain) / right advice":<58} gain %\n{"said/true, ! wrong":<22}')


def print_groups(judged):
    groups = sorted({row['group'] for row, _ in judged})
    print(f'{"group":<10} programs  steps  time  stages  advice  all but stages')
    for group in [*groups, 'all']:
        of = [verdict['right'] for row, verdict in judged if group in ('all', row['group'])]
        cells = [sum(right[key] for right in of) for key in ('iterations', 'time', 'stages', 'advice')]
        told = sum(right['iterations'] and right['time'] and right['advice'] for right in of)
        print(f'{group:<10} {len(of):>8} {cells[0]:>6} {cells[1]:>5} {cells[2]:>7} {cells[3]:>7} {told:>15}')


def gain_errors(verdicts):
    """|said / true - 1| where the right advice is said and its change gained something."""
    pairs = [(verdict['said_gain'], verdict['true_gain']) for verdict in verdicts]
    return [abs(said / true - 1) for said, true in pairs
            if said is not None and true is not None and true > 0.02]


def print_results(rows, rules, with_rows=True):
    if with_rows:
        print(HEAD)
        for row in rows:
            print(line_of(row))
    judged = [(row, judge(row)) for row in rows if 'said' in row]
    if not judged:
        return
    print()
    print_groups(judged)
    print_score([verdict for _, verdict in judged], rules)


def print_score(verdicts, rules):
    total, rights = len(verdicts), [verdict['right'] for verdict in verdicts]
    as_steps = sum(right['iterations'] and right['time'] for right in rights)
    wanting = [verdict for verdict in verdicts if 'none' not in verdict['wanted']]
    named = sum(verdict['right']['advice'] for verdict in wanting)
    unknown = sum(not rules & set(verdict['wanted']) for verdict in wanting)
    first = sum(right['advice'] for right in rights)
    errors = gain_errors(verdicts)
    print(f'\ntold as they are: {as_steps} of {total} in steps and time, '
          f'{sum(all(right.values()) for right in rights)} also in stages and advice')
    print(f'first advice right: {first} of {total} ({100 * first / total:.0f} %); of the {len(wanting)} '
          f'programs that want a change {named}; for {unknown} of them there is no rule')
    if errors:
        print(f'gains: median error {100 * statistics.median(errors):.0f} %, over the {len(errors)} '
              f'programs whose right advice is said, of the {len(wanting)}')
