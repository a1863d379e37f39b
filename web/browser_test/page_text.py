"""What a report page says, read from it by a browser."""


def ms(text):
    value, unit = text.split()
    return float(value.replace(',', '')) * {'ns': 1e-6, 'µs': 1e-3, 'ms': 1, 's': 1e3}[unit]


def phases(browser):
    """Mean time of each phase and of the step, in ms, as the page shows them."""
    rows = browser.run('return [...document.querySelectorAll(".breakdown tr:not(.events, .events *)")].slice(1)'
                       '.map(row => [row.cells[0].innerText.trim(), row.cells[2].innerText])')
    return {name: ms(text) for name, text in rows}
