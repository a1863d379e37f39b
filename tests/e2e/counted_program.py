"""A deterministic program with all that makes counting calls and lines hard; run by
python_counts_test.py with the injected library, with cProfile and with line_profiler."""
import asyncio
import sys


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def even(n):
    return n == 0 or odd(n - 1)


def odd(n):
    return n != 0 and even(n - 1)


def numbers(n):
    for i in range(n):
        yield i


def chain(n):
    yield from numbers(n)
    yield from (i * i for i in numbers(n))


def generators():
    result = sum(numbers(100)) + sum(chain(10)) + sum(i for i in range(7))
    closed = numbers(5)
    next(closed)
    closed.close()
    thrown = numbers(5)
    next(thrown)
    try:
        thrown.throw(KeyError("thrown"))
    except KeyError:
        result += 1
    left_open = numbers(5)
    next(left_open)
    generators.left_open = left_open
    return result


class Raises:
    def outer(self, k):
        try:
            self.middle(k)
        except ValueError:
            return k
        finally:
            self.note()

    def middle(self, k):
        self.inner(k)
        return "never"

    def inner(self, k):
        raise ValueError(k)

    def note(self):
        pass

    @property
    def half(self):
        return 0.5


async def leaf(i):
    await asyncio.sleep(0)
    return i


async def gather():
    parts = [leaf(i) for i in range(10)]
    total = 0
    for part in parts:
        total += await part
    return total


def drive(coroutine):
    try:
        while True:
            coroutine.send(None)
    except StopIteration as stop:
        return stop.value


def deep(n):
    return 0 if n == 0 else 1 + deep(n - 1)


def loop(n):
    total = 0
    for i in range(n):
        if i % 2:
            total += i
        else:
            total -= 1
    return total


def from_text():
    names = {}
    text = "def made(x):\n    return x + 1\nresult = made(1) + made(2)"
    exec(compile(text, "made.py", "exec"), names)
    return names["result"]


def sorting():
    return sorted(range(10), key=lambda x: -x) + list(map(abs, [1, -1]))


def main():
    fib(15)
    even(20)
    generators()
    raises = Raises()
    for k in range(50):
        raises.outer(k)
        raises.half
    drive(gather())
    deep(200)
    loop(1000)
    from_text()
    sorting()
    generators.left_open = None  # closes it
    return 0


if __name__ == "__main__":
    sys.exit(main())
