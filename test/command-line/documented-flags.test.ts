// Every flag of a command line in a document, in a block or in a sentence, is in the `--help` of that very command.
import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'

const root = new URL('../..', import.meta.url).pathname
const documents = ['', 'docs/'].flatMap((dir) =>
  readdirSync(root + dir).flatMap((name) => (name.endsWith('.md') ? [dir + name] : [])),
)

/** The help that each command line prints, asked for once. */
const helps = new Map<string, string>()
function helpOf(...command: string[]): string {
  const key = command.join(' ')
  const known = helps.get(key)
  if (known !== undefined) return known
  const started = command[0] === 'install.sh' ? [`${root}install.sh`] : [process.execPath, `${root}src/main.ts`]
  const { stdout, stderr } = Bun.spawnSync([
    ...started,
    ...command.slice(command[0] === 'install.sh' ? 1 : 0),
    '--help',
  ])
  const text = `${stdout}${stderr}`
  helps.set(key, text)
  return text
}

const commands = 'serve|agent|backup-server|backup|restore|secrets|search|release|upgrade|takeover|version'
const CALL = new RegExp(`(?:\\bberth (${commands})((?: [a-z][a-z-]*)?)|(install\\.sh))\\b([^\\n|;&]*)`, 'g')
type Call = { command: string[]; flags: string[] }
/** Lines that end in a backslash are one; a sentence has its calls in backquotes. */
function callsIn(text: string): Call[] {
  const code = [
    ...[...text.matchAll(/^ *```(?:sh|bash)\n([\s\S]*?)^ *```/gm)].map(([, block]) => block!),
    ...[...text.replace(/^ *```[\s\S]*?^ *```/gm, '').matchAll(/`([^`]+)`/g)].map(([, words]) => words!),
  ].map((words) => words.replace(/\\\n/g, ' ').replace(/\s#.*$/gm, ''))
  return code.flatMap((words) =>
    [...words.matchAll(CALL)].flatMap(([, name, verb = '', installer, rest = '']) => {
      const flags = [...rest.matchAll(/(?<=\s)--[a-z][a-z-]*/g)].map(([flag]) => flag)
      const command = installer ? ['install.sh'] : [name!, ...(verb.trim() ? [verb.trim()] : [])]
      return flags.length ? [{ command, flags }] : []
    }),
  )
}

describe.each(documents)('%s', (document) => {
  for (const { command, flags } of callsIn(readFileSync(root + document, 'utf8')))
    test(`${command.join(' ')} ${flags.join(' ')}`, () => {
      const named = [helpOf(...command), ...(command.length > 1 ? [helpOf(command[0]!)] : [])].join('\n')
      for (const flag of flags)
        expect([flag, new RegExp(`${flag}(?![a-z-])`).test(named) || flag === '--help']).toEqual([flag, true])
    })
})

test('calls are found in blocks over several lines and in sentences, and a flag that is none is noticed', () => {
  const text =
    'As `berth agent run --fake` does:\n\n```sh\nsudo ./install.sh --agent \\\n  --uplink bond0  # --no\n```\n'
  expect(callsIn(text)).toEqual([
    { command: ['install.sh'], flags: ['--agent', '--uplink'] },
    { command: ['agent', 'run'], flags: ['--fake'] },
  ])
  expect(helpOf('agent', 'run')).toContain('--fake')
  expect(helpOf('agent', 'run')).not.toContain('--uplink')
})
