// README.md and docs/: the program takes every command line that they show, and every link leads somewhere.
import { describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { allOperations } from '../../src/app/features.ts'
import { queryOf } from '../../src/kernel/api/operation.ts'
import { fits } from '../../src/kernel/api/validate.ts'

const root = new URL('../..', import.meta.url).pathname
const documents = [
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  ...readdirSync(`${root}docs`).flatMap((name) => (name.endsWith('.md') ? [`docs/${name}`] : [])),
]
const textOf = (document: string) => readFileSync(root + document, 'utf8')

/** Each call of `berth …` in the blocks of shell lines, with what a here-document gives it. */
function callsIn(text: string): { line: string; input: string }[] {
  const blocks = [...text.matchAll(/^ *```(?:sh|bash)\n([\s\S]*?)^ *```/gm)].map(([, block]) =>
    block!.replace(/\\\n/g, ' '),
  )
  return blocks.flatMap((block) =>
    [
      ...block.matchAll(
        /(?:^|[\s(|])berth ((?:serve|agent|admin|backup|secrets|search|release|version)\b.*)(?:\n([\s\S]*?)\nJSON)?/g,
      ),
    ].map(([, line, input = '']) => ({
      line: line!.replace(/ +#.*$/, ''),
      input: line!.includes("<<'JSON'") ? input : '',
    })),
  )
}

describe.each(documents)('%s', (document) => {
  for (const { line, input } of callsIn(textOf(document)))
    test(`berth ${line}`, () => {
      const [command, name = '', ...rest] = line.split(' ')
      if (command === 'backup') return expect(['create', 'restore']).toContain(name)
      if (command === 'backup-server') return expect(['serve', 'add', 'quota', 'list', 'remove']).toContain(name)
      if (command === 'release') return expect(['make', 'manifest', 'sign', 'verify', 'keys']).toContain(name)
      if (command === 'secrets') return expect(['rotate', 'list', 'drop']).toContain(name)
      if (command === 'search') return expect(['verify', 'rebuild']).toContain(name)
      if (command === 'agent') return expect(['run', 'enroll', 'uplink', 'doctor', 'version']).toContain(name)
      if (command !== 'admin' || ['list', 'create-staff', 'create-token', 'OPERATION'].includes(name)) {
        const known = [
          '--email',
          '--name',
          '--role',
          '--account',
          '--preset',
          '--scopes',
          '--allow',
          '--expires',
          '--help',
        ]
        for (const flag of line.match(/--[a-z-]+/g) ?? []) expect(known).toContain(flag)
        return
      }
      const op = allOperations.find(({ id }) => id === name)
      expect([name, !!op]).toEqual([name, true])
      // As the shell hands it over: in single quotes as it stands, in double quotes with a value in place of each
      // variable.
      const words = rest
        .join(' ')
        .trim()
        .replace(/ ?\|.*$|\).*$/, '')
      const json =
        input ||
        (/^'(.*)'/.exec(words)?.[1] ?? /^"(.*)"/.exec(words)?.[1]?.replace(/\\"/g, '"').replace(/\$\w+/g, 'x') ?? '{}')
      const fields = JSON.parse(json)
      for (const [, id] of op!.path.matchAll(/\{(\w+)\}/g)) {
        expect(fields[id!]).toBeString()
        delete fields[id!]
      }
      const known = Object.keys(queryOf(op!))
      for (const asked of Object.keys(fields.query ?? {})) expect(known).toContain(asked)
      delete fields.query
      if (op!.body) expect([json, fits(op!.body, fields)]).toEqual([json, true])
      else expect(fields).toEqual({})
    })

  test('links to what is there', () => {
    for (const [, target] of textOf(document).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^https?:/.test(target!)) continue
      const [path = '', anchor] = target!.split('#')
      const file = path ? `${dirname(root + document)}/${path}` : root + document
      expect([target, existsSync(file)]).toEqual([target, true])
      const anchors = [...readFileSync(file, 'utf8').matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
        heading!
          .toLowerCase()
          .replace(/[^\w\- ]/g, '')
          .replaceAll(' ', '-'),
      )
      if (anchor) expect(anchors).toContain(anchor)
    }
  })
})
