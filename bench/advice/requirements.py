"""What a program needs that a machine may lack: its header's requires=cuda,torch>=2,timm."""
import functools
import subprocess

PROBE = """
import importlib.util, sys
need = sys.argv[1]
if need == 'cuda':
    import torch
    sys.exit(0 if torch.cuda.is_available() else 'no GPU')
if need.startswith('torch>='):
    import torch
    least = tuple(int(part) for part in need[7:].split('.'))
    have = tuple(int(part) for part in torch.__version__.split('+')[0].split('a')[0].split('.'))
    sys.exit(0 if have[:len(least)] >= least else 'PyTorch ' + torch.__version__)
sys.exit(0 if importlib.util.find_spec(need) else 'no package ' + need)
"""


@functools.lru_cache(maxsize=None)
def lacks(need, python):
    """Why `python` on this machine does not have it; empty where it does."""
    done = subprocess.run([python, '-c', PROBE, need], capture_output=True, text=True)
    if done.returncode == 0:
        return ''
    return f'needs {need}: {(done.stderr.strip().splitlines() or ["not found"])[-1]}'


def as_for(header, python):
    """The header with the rules that are right only there, `rule@torch>=2.4`, where they are."""
    rules = [rule.partition('@') for rule in header.get('advice', 'none').split('|')]
    right = [rule for rule, _, need in rules if not need or not lacks(need, python)]
    return {**header, 'advice': '|'.join(right)}


def missing(header, python):
    reasons = (lacks(need, python) for need in header.get('requires', '').split(',') if need)
    return '; '.join(reason for reason in reasons if reason)
