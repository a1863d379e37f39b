"""A program that uses all that the package offers for naming code."""
import asyncio
import inspect


def every_use(package):
    """Calls everything; the program's own results."""
    with package.annotate("a", color="red", domain="d", category="c", payload=3) as entered:
        pass

    @package.annotate("named", color="blue")
    def add(a, b=1):
        """Adds."""
        return a + b

    @package.annotate()
    def fail():
        raise KeyError("x")

    @package.annotate()
    def count():
        got = yield 1
        yield got

    @package.annotate()
    async def wait():
        await asyncio.sleep(0)
        return 5

    @package.annotate()
    async def stream():
        got = yield 1
        yield got

    async def read():
        generator = stream()
        return [await generator.__anext__(), await generator.asend(7),
                [item async for item in generator]]

    results = [entered is not None, add(1, b=2), add.__name__, add.__doc__]
    try:
        fail()
    except KeyError:
        results.append("failed")
    generator = count()
    results += [next(generator), generator.send(9), list(generator)]
    results += [asyncio.run(wait()), asyncio.run(read())]
    results += [inspect.iscoroutinefunction(wait), inspect.isgeneratorfunction(count),
                inspect.isasyncgenfunction(stream)]
    package.mark("m", color=0xFF00FF00, category=4)
    package.push_range("p", domain="d")
    package.pop_range(domain="d")
    package.end_range(package.start_range("s", payload=1.5))
    results += use_domain(package)
    package.profile_start()
    package.profile_stop()
    calls = package.Profile(linenos=True)
    calls.enable()
    add(1)
    calls.disable()
    return results


def use_domain(package):
    """Calls everything of a domain; what its attributes say."""
    domain = package.get_domain("other")
    attributes = domain.get_event_attributes("o", color="green", category="c")
    domain.push_range(attributes)
    domain.pop_range()
    domain.end_range(domain.start_range(attributes))
    domain.mark(attributes)
    attributes.payload = 7  # as the nvtx package's documentation advises for hot loops
    attributes.message = domain.get_registered_string("r")
    attributes.color, attributes.category = 0xFF112233, domain.get_category_id("e")
    domain.mark(attributes)
    domain.get_category_id("c")
    return [attributes.payload, attributes.message, attributes.color]


def add_line():
    """Where every_use() defines `add`, as a frame has it: its first line, the decorator's."""
    source, first = inspect.getsourcelines(every_use)
    return first + next(i for i, line in enumerate(source) if '"named"' in line)
