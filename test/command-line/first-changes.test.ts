// A newcomer follows docs/first-changes.md: its edits are made in a copy of the tree, one change after another, and its
// commands are run there.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

const root = join(import.meta.dir, '../..')
const document = readFileSync(`${root}/docs/first-changes.md`, 'utf8')
const changes = document.split(/^## (?=\d)/m).slice(1)

/** Make `file`, or In `file`, before, after or before the last `text`, and a block of code; or a block of commands. */
const EDIT =
  /(?<step>Make|In)\s`(?<file>[^`]+)`(?:,\s(?<where>before the last|before|after)\s`(?<anchor>[^`]+)`)?[^`]*?:/
const CODE = /```(?<language>\w+)\n(?<code>.*?)^```$/
const BLOCK = new RegExp(`(?:${EDIT.source}\n\n)?${CODE.source}`, 'gms')

let copy: string
beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'berth-first-changes-'))
  const files = run(
    `git ls-files -co --exclude-standard -z | xargs -0 ls -d 2>/dev/null | tar -c -T - | tar -x -C ${copy}`,
    root,
  )
  expect(files).toEqual({ exitCode: 0, output: '' })
  for (const name of ['.tools', 'node_modules']) symlinkSync(`${root}/${name}`, `${copy}/${name}`)
  run('git init -q; git add -A; git -c user.name=a -c user.email=a@b.c commit -qm all', copy)
})
afterAll(() => rmSync(copy, { recursive: true, force: true }))

function run(command: string, cwd: string) {
  const { exitCode, stdout, stderr } = Bun.spawnSync(['bash', '-euc', command], { cwd })
  return { exitCode, output: exitCode ? `${stdout}${stderr}`.slice(-4000) : '' }
}

function edit(file: string, where: string | undefined, anchor: string, code: string) {
  const path = `${copy}/${file}`
  if (!where) {
    mkdirSync(dirname(path), { recursive: true })
    return writeFileSync(path, code)
  }
  const text = readFileSync(path, 'utf8')
  const at = where === 'before the last' ? text.lastIndexOf(anchor) : text.indexOf(anchor)
  expect({ file, anchor, isFound: at >= 0 }).toEqual({ file, anchor, isFound: true })
  // Before an anchor means before its line; after one, right behind it.
  const cut = where === 'after' ? at + anchor.length : text.lastIndexOf('\n', at) + 1
  const added = where === 'after' ? code.replace(/\n$/, ' ') : code
  writeFileSync(path, text.slice(0, cut) + added + text.slice(cut))
}

test('the document has changes to follow', () => expect(changes).toHaveLength(3))

for (const change of changes) {
  const title = change.slice(0, change.indexOf('\n'))
  test(`change ${title} works as written`, () => {
    const steps = [...change.matchAll(BLOCK)].map(({ groups }) => groups!)
    expect(steps.filter(({ step }) => step).length).toBeGreaterThan(1)
    for (const { file, where, anchor, language, code } of steps)
      if (file) edit(file, where, anchor ?? '', code!)
      else if (language === 'sh')
        for (const command of code!.trim().replaceAll('\\\n', ' ').split('\n'))
          expect({ command, ...run(command, copy) }).toEqual({ command, exitCode: 0, output: '' })
  }, 600_000)
}
