"""What a report page says, read from it by a browser."""


def ms(text):
    value, unit = text.split()
    return float(value.replace(',', '')) * {'ns': 1e-6, 'µs': 1e-3, 'ms': 1, 's': 1e3}[unit]


def phases(browser):
    """Mean time of each phase and of the step, in ms, as the page shows them."""
    rows = browser.run('return [...document.querySelectorAll(".breakdown tr:not(.events, .events *)")].slice(1)'
                       '.map(row => [row.cells[0].innerText.trim(), row.cells[2].innerText])')
    return {name: ms(text) for name, text in rows}


def hard_to_read(browser, selector):
    """Texts of the elements whose contrast to their ground is below 4.5 (WCAG 2.2, 1.4.3), with it."""
    return browser.run('''
    const luminance = (color) => {
      const [r, g, b] = color.match(/[\\d.]+/g).slice(0, 3).map(v => v / 255)
        .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const ground = (element) => {
      for (let at = element; at; at = at.parentElement) {
        const color = getComputedStyle(at).backgroundColor;
        if (!/rgba\\(.*, 0\\)|color\\(/.test(color)) return color;
      }
      return "rgb(255, 255, 255)";
    };
    return [...document.querySelectorAll(arguments[0])]
      .filter(e => [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()) && e.checkVisibility()
                   && !e.closest("svg") && !e.closest(".stack"))
      .map(e => [luminance(getComputedStyle(e).color), luminance(ground(e)), e.className + e.textContent.slice(0, 30)])
      .map(([a, b, text]) => [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), text])
      .filter(([contrast]) => contrast < 4.5)''', selector)
