#!/usr/bin/env python3
"""What counts as a function, and how long it is."""
import pathlib
import tempfile
import unittest

from function_lengths import function_lengths


class FunctionLengths(unittest.TestCase):
    def functions(self, suffix, text):
        """[(name, lines)]"""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / ('source' + suffix)
            path.write_text(text)
            return [(name, lines) for name, _, lines in function_lengths(path)]

    def test_cpp(self):
        text = r'''
        #define OPEN {
        namespace a::b {
        class [[nodiscard]] C final : public D {
         public:
          C() : x_{1}, y_(2) {
            Call('{', "}", R"(}})");
          }
          int x() const { return x_; }
        };
        const int kValues[] = {1, 2};
        enum class E { kOne };
        template <typename T>
        auto Long(T value) -> Result<T> {
          // not the end }
          each([&] {
            value = 1'000;
          });
        }
        }  // namespace a::b
        template <typename T>
        class E : public F<G<T>> {
          int y() const { return 1; }
        };
        extern "C" {
        int f(void) { return 0; }
        }
        '''
        # A member that is initialized in braces looks like a body of its own.
        self.assertEqual(self.functions('.cpp', text),
                         [('C', 1), ('y_', 3), ('x', 1), ('Long', 6), ('y', 1), ('f', 1)])

    def test_typescript(self):
        text = r'''
        interface I { a: number; f(): void }
        export function pair(a: string): {x: number; y: number}[] {
          return [{x: 1, y: a.replace(/[{"]/g, `}${`{`}`).length}];
        }
        const arrow = (a: number): number => {
          return a;
        };
        export class V extends W {
          private readonly box = h("div", {class: "box"});
          draw(): void {
            if (this.box) {
              arrow(1);
            }
          }
        }
        '''
        lengths = [lines for name, lines in self.functions('.ts', text) if name not in ('I', 'h')]
        self.assertEqual(lengths, [1, 3, 3, 5])

    def test_python(self):
        text = 'class A:\n    def f(self):\n        return """\n}"""\n'
        self.assertEqual(self.functions('.py', text), [('f', 3)])

    def test_braces_that_do_not_match(self):
        with self.assertRaises(ValueError):
            self.functions('.cpp', 'void f() {')


if __name__ == '__main__':
    unittest.main()
