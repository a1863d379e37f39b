"""Checks of a script: a line each; whatever fails, the next one runs."""
import time

failed, skipped = [], []
started = time.time()


def check(name, least_s=0, limit_s=None):
    """A decorator: the function returns what is wrong. With a limit it is left out where less than `least_s` are left."""
    def run(function):
        if limit_s is not None and limit_s - (time.time() - started) < least_s:
            print(f"SKIPPED: {name}: less than {least_s} s are left", flush=True)
            skipped.append(name)
            return
        print(f"== {name}", flush=True)
        begin = time.time()
        try:
            wrong = function()
        except Exception as error:  # the next one is tried all the same
            wrong = f"{type(error).__name__}: {error}"
        print(f"{'FAILED' if wrong else 'ok'}: {name} ({time.time() - begin:.1f} s)"
              f"{': ' + str(wrong) if wrong else ''}", flush=True)
        if wrong:
            failed.append(name)
    return run
