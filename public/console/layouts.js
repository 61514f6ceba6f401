// Where the characters of a text are on a keyboard. A screen takes places of keys, and the layout that is set in the
// server makes characters of them: so a text can be typed only for a layout that is known here.
// @ts-check

export const rows = [
  'Backquote Digit1 Digit2 Digit3 Digit4 Digit5 Digit6 Digit7 Digit8 Digit9 Digit0 Minus Equal',
  'KeyQ KeyW KeyE KeyR KeyT KeyY KeyU KeyI KeyO KeyP BracketLeft BracketRight',
  'KeyA KeyS KeyD KeyF KeyG KeyH KeyJ KeyK KeyL Semicolon Quote Backslash',
  'IntlBackslash KeyZ KeyX KeyC KeyV KeyB KeyN KeyM Comma Period Slash',
].map((row) => row.split(' '))

/**
 * The four rows without a modifier, with Shift, and with AltGr; a space is a key without a character. `dead`: these
 * wait for the next key, so a space is typed after them.
 */
export const drawn = {
  us: {
    rows: [
      ['`1234567890-=', 'qwertyuiop[]', "asdfghjkl;'\\", ' zxcvbnm,./'],
      ['~!@#$%^&*()_+', 'QWERTYUIOP{}', 'ASDFGHJKL:"|', ' ZXCVBNM<>?'],
    ],
    dead: '',
  },
  uk: {
    rows: [
      ['`1234567890-=', 'qwertyuiop[]', "asdfghjkl;'#", '\\zxcvbnm,./'],
      ['¬!"£$%^&*()_+', 'QWERTYUIOP{}', 'ASDFGHJKL:@~', '|ZXCVBNM<>?'],
      ['    €        ', '            ', '            ', '           '],
    ],
    dead: '',
  },
  de: {
    rows: [
      ['^1234567890ß´', 'qwertzuiopü+', 'asdfghjklöä#', '<yxcvbnm,.-'],
      ['°!"§$%&/()=?`', 'QWERTZUIOPÜ*', "ASDFGHJKLÖÄ'", '>YXCVBNM;:_'],
      ['  ²³   {[]}\\ ', '@ €        ~', '            ', '|      µ   '],
    ],
    dead: '^´`',
  },
  fr: {
    rows: [
      ['²&é"\'(-è_çà)=', 'azertyuiop^$', 'qsdfghjklmù*', '<wxcvbn,;:!'],
      [' 1234567890°+', 'AZERTYUIOP¨£', 'QSDFGHJKLM%µ', '>WXCVBN?./§'],
      ['  ~#{[|`\\^@]}', '  €         ', '            ', '           '],
    ],
    // Those of the letter row; with AltGr the same characters are not dead.
    dead: '¨',
  },
}

/**
 * @typedef {keyof typeof drawn} Layout
 * @typedef {{ code: string, shift: boolean, altGr: boolean, dead: boolean }} Key
 */

/** @returns {Map<string, Key>} The key of each character of a layout; the line's end and the tab are in all. */
export function keysOf(/** @type {Layout} */ layout) {
  const { rows: levels, dead } = drawn[layout]
  /** @type {Map<string, Key>} */
  const keys = new Map()
  // From AltGr to plain: a character that is on two levels is typed with fewer modifiers, unless that key is dead.
  for (const [level, ofLevel] of [...levels.entries()].reverse())
    for (const [n, row] of ofLevel.entries())
      for (const [at, character] of [...row].entries()) {
        const isDeadKey = layout === 'fr' && level === 0 && character === '^'
        if (character === ' ' || (isDeadKey && keys.has(character))) continue
        const code = /** @type {string} */ (rows[n]?.[at])
        keys.set(character, { code, shift: level === 1, altGr: level === 2, dead: dead.includes(character) })
      }
  const plain = { shift: false, altGr: false, dead: false }
  keys.set(' ', { code: 'Space', ...plain })
  keys.set('\n', { code: 'Enter', ...plain })
  keys.set('\t', { code: 'Tab', ...plain })
  return keys
}
