// Constructs that our code must not contain. Each rule is tried on a line that breaks it.
import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { Glob } from 'bun'

const root = new URL('../..', import.meta.url).pathname
const files = [...new Glob('{src,agent,views,public}/**/*.{ts,tsx,js}').scanSync({ cwd: root })].map((path) => ({
  path,
  // Comments may name what is forbidden.
  text: readFileSync(root + path, 'utf8').replace(/\/\*[\s\S]*?\*\/|(^|\s)\/\/.*$/gm, ''),
}))
const having = (rule: RegExp) => files.filter(({ text }) => rule.test(text)).map(({ path }) => path)

const rules: readonly [string, RegExp, string][] = [
  [
    'S2: nothing puts text into a page as markup',
    /\.(?:inner|outer)HTML\b|dangerouslySetInnerHTML|insertAdjacentHTML|document\.write|x-html|hx-on|js:\{|\beval\(|new Function\b/,
    'place.innerHTML = text',
  ],
  [
    'S4: no shell reads a command',
    /\bBun\.\$|child_process|\bshell: *true|['"](?:ba|da)?sh['"], *\[? *['"]-c['"]/,
    "Bun.spawn(['sh', '-c', line])",
  ],
  // A group that begins with a dot of its own cannot be read in two ways.
  ['S9: no regular expression repeats what it repeats', /\((?!\\\.)[^()\n]*[+*]\)[+*{](?!\?)/, '/^(a+)+$/'],
  ['S29: no answer has a CORS header', /access-control-/i, "headers.set('Access-Control-Allow-Origin', '*')"],
]

describe('our own code', () => {
  test('is found', () => expect(files.length).toBeGreaterThan(100))
  for (const [words, rule, broken] of rules)
    test(words, () => {
      expect(broken).toMatch(rule)
      expect(having(rule)).toEqual([])
    })
  test('S4: starts programs at one place of each half, from a list of arguments', () => {
    expect(
      having(/\bBun\.spawn(?:Sync)?\(/).filter((path) => path.startsWith('src/') || path.startsWith('views/')),
    ).toEqual([])
    for (const path of having(/\bBun\.spawn(?:Sync)?\(/))
      expect(readFileSync(root + path, 'utf8')).not.toMatch(/Bun\.spawn(?:Sync)?\(\s*[`'"]/)
  })
  test('S3: no SQL is put together from what a call sent', () => {
    // A statement's holes may hold columns and conditions of ours, never `query`, `body` or `params`.
    const holes = files.flatMap(({ path, text }) =>
      [...text.matchAll(/`[^`]*\b(?:SELECT|INSERT|UPDATE|DELETE|WHERE|ORDER BY)\b[^`]*`/g)].flatMap(([sql]) =>
        [...sql.matchAll(/\$\{([^}]*)\}/g)].map(([, hole]) => `${path}: ${hole}`),
      ),
    )
    expect(holes.length).toBeGreaterThan(5)
    for (const hole of holes) expect(hole).not.toMatch(/\b(?:query|body|params)\b/)
  })
})
