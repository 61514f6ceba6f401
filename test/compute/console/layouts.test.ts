// Text that is typed on a screen: every layout has a key for each character of ASCII, at the place where it is drawn.
import { describe, expect, test } from 'bun:test'
// @ts-expect-error: a module of browsers, without types of its own
import { drawn, keysOf, rows } from '../../../public/console/layouts.js'
import { keyboards } from '../../../views/compute/console/page.tsx'

const ascii = Array.from({ length: 95 }, (_, n) => String.fromCharCode(32 + n))
const of = (layout: string, character: string) => {
  const { code, shift, altGr, dead } = keysOf(layout).get(character)
  return `${shift ? 'Shift+' : ''}${altGr ? 'AltGr+' : ''}${code}${dead ? '+Space' : ''}`
}

describe('the keyboards of a screen', () => {
  test('are those that the page offers', () => expect(Object.keys(drawn)).toEqual(Object.keys(keyboards)))
  for (const layout of Object.keys(keyboards)) {
    test(`${layout} is drawn with as many characters as there are keys`, () => {
      for (const level of drawn[layout].rows)
        expect(level.map((row: string) => [...row].length)).toEqual(rows.map((row: string[]) => row.length))
    })
    test(`${layout} has every character of ASCII`, () => {
      const keys = keysOf(layout)
      expect(ascii.filter((character) => !keys.has(character))).toEqual([])
    })
  }
  test('have their own characters where a person finds them', () => {
    expect(['A', '@', '|'].map((c) => of('us', c))).toEqual(['Shift+KeyA', 'Shift+Digit2', 'Shift+Backslash'])
    expect(['z', 'y', '@', '~', '^', 'ß', '|', '€'].map((c) => of('de', c))).toEqual([
      'KeyY',
      'KeyZ',
      'AltGr+KeyQ',
      'AltGr+BracketRight',
      'Backquote+Space',
      'Minus',
      'AltGr+IntlBackslash',
      'AltGr+KeyE',
    ])
    expect(['a', '1', '@', '^', '\\', 'm'].map((c) => of('fr', c))).toEqual([
      'KeyQ',
      'Shift+Digit1',
      'AltGr+Digit0',
      'AltGr+Digit9',
      'AltGr+Digit8',
      'Semicolon',
    ])
    expect(['"', '#', '\\', '£'].map((c) => of('uk', c))).toEqual([
      'Shift+Digit2',
      'Backslash',
      'IntlBackslash',
      'Shift+Digit3',
    ])
  })
})
