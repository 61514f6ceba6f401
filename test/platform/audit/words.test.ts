// Each change is told in the past tense, and has an icon.
import { describe, expect, test } from 'bun:test'
import { features } from '../../../src/app/features.ts'
import { inPast, pastOf } from '../../../src/kernel/audit/past.ts'
import { assemble } from '../../../src/kernel/registry.ts'
import { otherActions, otherLines } from '../../../src/platform/audit/line.ts'
import { iconOf, wordsOf } from '../../../views/platform/audit/words.ts'

const registry = assemble(features)
const changes = registry.allOperations.filter(({ method }) => method !== 'GET')
const icons = await Bun.file('public/icons.svg').text()

/** The first words of what is in the past tense, and of no command. */
const past =
  /^(\w+ed|Began|Brought|Chose|Forgot|Gave|Left|Let|Made|Put|Read|Rebuilt|Reset|Sent|Set|Showed|Took|Told|Withdrew)\b/

describe('each change', () => {
  test('has words in the past tense, no longer than a line, and one of the icons', () => {
    for (const { id, actionWords = {} } of changes)
      for (const action of [null, ...Object.keys(actionWords)]) {
        const words = wordsOf({ registry }, id, action)
        expect([id, words]).toEqual([id, expect.stringMatching(action === 'shutdown' ? /^Shut down$/ : past)])
        expect([id, words.length <= 52, /[;:.]/.test(words)]).toEqual([id, true, false])
        expect([id, icons.includes(`id="i-${iconOf({ registry }, id, action)}"`)]).toEqual([id, true])
      }
  })
  test('of the power is told by what was done', () => {
    expect(['start', 'shutdown', 'off', 'restart'].map((a) => wordsOf({ registry }, 'servers.power', a))).toEqual([
      'Started',
      'Shut down',
      'Forced off',
      'Restarted',
    ])
  })
  test('of a server does not name what its line stands beside', () => {
    expect(
      ['servers.rename', 'servers.suspend', 'servers.reset-password'].map((id) => wordsOf({ registry }, id, null)),
    ).toEqual(['Renamed', 'Suspended', 'Reset the root password'])
  })
})

test('lines that are no call of an operation have words and an icon, too', () => {
  for (const [id, words] of Object.entries(otherLines)) {
    expect(wordsOf({ registry }, id, null)).toBe(words)
    expect([id, icons.includes(`id="i-${iconOf({ registry }, id, null)}"`)]).toEqual([id, true])
  }
  for (const [id, actions] of Object.entries(otherActions))
    for (const [action, words] of Object.entries(actions)) expect(wordsOf({ registry }, id, action)).toBe(words)
})

test('a summary that does not begin with a known verb has no past tense, so its operation says it', () => {
  expect(inPast('A link that signs a customer in')).toBeUndefined()
  expect(pastOf({ summary: 'What the browser needs' })).toBeUndefined()
  expect(pastOf({ summary: 'Whatever', past: 'Signed in' })).toBe('Signed in')
  expect(inPast('Copy it')).toBeUndefined()
  expect(inPast('Verify a release')).toBe('Verified a release')
})
