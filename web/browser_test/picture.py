#!/usr/bin/env python3
"""Takes a picture of a report page: picture.py PAGE OUT.png WIDTH HEIGHT [dark]. The pictures in
docs/images are made with it."""
import sys

import webdriver


def main(page, out, width, height, scheme='light'):
    with webdriver.Browser() as browser:
        browser.prefer(color_scheme=scheme)
        browser.resize(int(width), int(height))
        browser.open(page)
        browser.picture(out, whole_page=False)


if __name__ == '__main__':
    main(*sys.argv[1:])
