// The screen of a server: noVNC 1.7, unmodified (Mozilla Public License 2.0, https://github.com/novnc/noVNC).
// @ts-check

import RFB from '@novnc/novnc'
import { keysOf } from './layouts.js'

const SHIFT = 0xffe1
const ALT_GR = 0xfe03
const CONTROL = 0xffe3
const ALT = 0xffe9
/** The symbols of keys that are no characters. */
const symbols = /** @type {Record<string, number>} */ ({ Enter: 0xff0d, Tab: 0xff09, Backspace: 0xff08 })
/** A guest that is emulated, or busy, loses keys that come faster. */
const KEY_MS = 12

/**
 * @param {HTMLElement} stage @param {string} _name
 * @param {{ connected(): void }} on
 */
export function createViewer(stage, _name, on) {
  /** @type {any} */
  let rfb
  const press = (/** @type {number} */ symbol, /** @type {string} */ code, /** @type {boolean} */ down) =>
    rfb?.sendKey(symbol, code, down)
  const tap = async (/** @type {number} */ symbol, /** @type {string} */ code) => {
    press(symbol, code, true)
    await pause()
    press(symbol, code, false)
    await pause()
  }
  return {
    attach(/** @type {any} */ channel) {
      rfb = new RFB(stage, channel, { shared: true })
      rfb.scaleViewport = true
      rfb.showDotCursor = true
      rfb.background = '#000'
      rfb.addEventListener('connect', () => on.connected())
    },
    detach() {
      rfb?.disconnect()
      rfb = undefined
    },
    focus: () => rfb?.focus(),
    /** Gives the keyboard back; keys that are still down are let go in the server. */
    release() {
      for (const [symbol, code] of /** @type {[number, string][]} */ ([
        [SHIFT, 'ShiftLeft'],
        [CONTROL, 'ControlLeft'],
        [ALT, 'AltLeft'],
      ]))
        press(symbol, code, false)
      rfb?.blur()
    },
    ctrlAltDel: () => rfb?.sendCtrlAltDel(),
    size() {
      const canvas = stage.querySelector('canvas')
      return canvas ? `${canvas.width} × ${canvas.height}` : ''
    },
    /** The characters that are on no key of the layout. */
    missing: (/** @type {string} */ text, /** @type {any} */ layout) => {
      const keys = keysOf(layout)
      return [...new Set(text)].filter((character) => !keys.has(character))
    },
    /** Types the text key by key; characters without a key are left out. */
    async type(/** @type {string} */ text, /** @type {any} */ layout, /** @type {AbortSignal} */ signal) {
      const keys = keysOf(layout)
      for (const character of text) {
        const key = keys.get(character)
        if (!key || signal.aborted) continue
        const symbol = symbols[key.code] ?? character.codePointAt(0) ?? 0
        if (key.shift) press(SHIFT, 'ShiftLeft', true)
        if (key.altGr) press(ALT_GR, 'AltRight', true)
        await tap(symbol, key.code)
        if (key.altGr) press(ALT_GR, 'AltRight', false)
        if (key.shift) press(SHIFT, 'ShiftLeft', false)
        if (key.dead) await tap(0x20, 'Space')
      }
    },
    /** A key of a phone's keyboard that is no character. */
    key: (/** @type {string} */ name) => {
      const symbol = symbols[name]
      if (symbol) void tap(symbol, name)
      return symbol !== undefined
    },
  }
}

const pause = () => new Promise((done) => setTimeout(done, KEY_MS))
