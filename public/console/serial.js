// The serial line of a server in a terminal: xterm.js 6 (MIT licence). What the guest sends is not trusted: it gets no
// answers from the terminal, opens no links and reaches no clipboard.
// @ts-check

import { Terminal } from '@xterm/xterm'

/** So many bytes are handed to the terminal before it has drawn the last ones. */
const MOST_PENDING = 256 * 1024
const PASTED_CHARACTERS = 100_000
const PIECE = 4096

/** The terminal makes style elements, which the policy of the page takes with the nonce only. */
function giveNonceToStyles() {
  const nonce = /** @type {HTMLScriptElement | null} */ (document.querySelector('script[nonce]'))?.nonce ?? ''
  const create = document.createElement
  document.createElement = /** @type {any} */ (
    (/** @type {string} */ name, /** @type {any} */ options) => {
      const element = create.call(document, name, options)
      if (name === 'style') element.nonce = nonce
      return element
    }
  )
}

/**
 * @param {HTMLElement} stage @param {string} name
 * @param {{ connected(): void }} on
 */
export function createViewer(stage, name, on) {
  giveNonceToStyles()
  const encoder = new TextEncoder()
  const terminal = new Terminal({
    cols: 80,
    rows: 24,
    fontSize: Math.max(7, Math.min(14, Math.floor((stage.clientWidth - 24) / 80 / 0.605))),
    fontFamily: 'ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace',
    scrollback: 2000,
    screenReaderMode: true,
    linkHandler: { activate() {} },
    theme: { background: '#000000', foreground: '#d5d9e0' },
  })
  terminal.open(stage)
  terminal.textarea?.setAttribute('aria-label', `Serial console of ${name}`)
  inert(terminal)
  /** @type {any} */
  let channel
  let pending = 0
  /** @type {Uint8Array[]} */
  let waiting = []
  const send = (/** @type {string} */ text) => {
    const bytes = encoder.encode(text)
    for (let at = 0; at < bytes.length; at += PIECE) channel?.send(bytes.subarray(at, at + PIECE))
  }
  const draw = () => {
    while (waiting.length && pending < MOST_PENDING) {
      const bytes = /** @type {Uint8Array} */ (waiting.shift())
      pending += bytes.length
      terminal.write(bytes, () => {
        pending -= bytes.length
        draw()
      })
    }
  }
  terminal.onData(send)
  // The end of a bracketed paste in a text would let the rest of it run as commands.
  stage.addEventListener(
    'paste',
    (event) => {
      event.preventDefault()
      event.stopPropagation()
      const text = event.clipboardData?.getData('text/plain') ?? ''
      terminal.paste(text.slice(0, PASTED_CHARACTERS).replaceAll('\x1b', ''))
    },
    true,
  )
  return {
    attach(/** @type {any} */ next) {
      channel = next
      waiting = []
      channel.onmessage = ({ data }) => {
        waiting.push(new Uint8Array(data))
        draw()
      }
      on.connected()
    },
    detach() {
      channel?.close()
      channel = undefined
    },
    focus: () => terminal.focus(),
    release: () => terminal.blur(),
    ctrlAltDel() {},
    size: () => `${terminal.cols} × ${terminal.rows}`,
    missing: () => /** @type {string[]} */ ([]),
    async type(/** @type {string} */ text) {
      terminal.paste(text.replaceAll('\x1b', ''))
    },
    key: () => false,
    /** Makes the terminal as large as its place, and tells the server, which a serial line cannot. */
    fit() {
      const cell = stage.querySelector('.xterm-screen')
      if (!cell) return
      const { width, height } = cell.getBoundingClientRect()
      const cols = Math.max(40, Math.floor((stage.clientWidth - 24) / (width / terminal.cols)))
      const rows = Math.max(10, Math.floor((stage.clientHeight - 16) / (height / terminal.rows)))
      terminal.resize(cols, rows)
      send(`stty cols ${cols} rows ${rows}\r`)
    },
  }
}

/** The terminal would answer questions of the guest, and the answers would be typed at whatever waits for input. */
function inert(/** @type {Terminal} */ { parser }) {
  const drop = () => true
  for (const final of ['c', 'n']) {
    parser.registerCsiHandler({ final }, drop)
    for (const prefix of ['?', '>', '=']) parser.registerCsiHandler({ prefix, final }, drop)
  }
  // DECRQM with and without its prefix, and the size in XTWINOPS.
  parser.registerCsiHandler({ intermediates: '$', final: 'p' }, drop)
  parser.registerCsiHandler({ prefix: '?', intermediates: '$', final: 'p' }, drop)
  parser.registerCsiHandler({ final: 't' }, drop)
  // Mouse reports and focus events are typed too, so no guest switches them on.
  const reporting = new Set([9, 1000, 1001, 1002, 1003, 1004, 1005, 1006, 1015, 1016])
  parser.registerCsiHandler({ prefix: '?', final: 'h' }, (parameters) =>
    parameters.flat().some((n) => reporting.has(n)),
  )
  parser.registerDcsHandler({ intermediates: '$', final: 'q' }, drop)
  for (const number of [4, 8, 10, 11, 12, 52]) parser.registerOscHandler(number, drop)
}
