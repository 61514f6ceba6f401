// The page of a console: it gets a ticket, opens the socket, and connects again when that breaks. The screen or the
// terminal is a module of its own, which is loaded here.
// @ts-check

import { openChannel } from './channel.js'
import { createToolbar } from './toolbar.js'

/** Seconds until the next try. */
const WAITS = [1, 2, 4, 8, 15]
const PING_MS = 5000
/** From here on a closed console can be opened again without a person; see closes.ts. */
const FIRST_RETRIED = 4410
const LAST_OWN = 4999
/** The codes of refusals that pass by themselves. */
const passing = new Set(['already_stopped', 'restarting', 'rate_limited', 'internal_error'])

// A server that is suspended has the page and no console.
const found = /** @type {HTMLElement | null} */ (document.querySelector('[data-console]'))
if (found) void start(found)

async function start(/** @type {HTMLElement} */ root) {
  const $ = (/** @type {string} */ selector) => /** @type {any} */ (root.querySelector(selector))
  const { console: path = '', kind = '', name = '', viewer: file = '' } = root.dataset

  /** @type {any} */
  let channel
  let tries = 0
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer
  let isConnecting = false

  const stage = $('[data-stage]')
  const module = await import(file)
  const viewer = module.createViewer(stage, name, { connected })

  /** @param {'connecting' | 'connected' | 'closed'} state */
  function show(state, words = '') {
    /** @type {HTMLElement} */ for (const tag of root.querySelectorAll('[data-when]'))
      tag.hidden = /** @type {HTMLElement} */ (tag).dataset['when'] !== state
    $('[data-veil]').hidden = state === 'connected'
    $('[data-words]').textContent = words
    $('[data-connect]').hidden = state !== 'closed'
    /** @type {HTMLButtonElement} */ for (const button of root.querySelectorAll('[data-needs-connection]'))
      button.disabled = state !== 'connected'
  }

  async function connect() {
    clearTimeout(timer)
    if (isConnecting || channel) return
    isConnecting = true
    show('connecting', 'Connecting…')
    const answer = await ticket().catch(() => ({ refused: 'The panel is not responding.', again: true }))
    isConnecting = false
    if ('refused' in answer) return closed(answer.refused, answer.again)
    channel = openChannel(answer.path, answer.protocols, {
      open: () => viewer.attach(channel),
      pong: (ms) => {
        $('[data-figures]').textContent = [viewer.size(), `${Math.round(ms)} ms`].filter(Boolean).join(' · ')
      },
      end: (code, reason) => {
        const again = code < 4400 || code > LAST_OWN || code >= FIRST_RETRIED
        const words = reason && code >= 4400 ? reason : 'The connection broke off.'
        channel = undefined
        toolbar.stopTyping()
        viewer.detach()
        closed(words, again)
      },
    })
  }

  /** @returns {Promise<{ path: string, protocols: string[] } | { refused: string, again: boolean }>} */
  async function ticket() {
    const csrf = document.querySelector('meta[name=csrf-token]')?.getAttribute('content') ?? ''
    const answer = await fetch(path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-CSRF-Token': csrf },
      body: JSON.stringify({ kind }),
    })
    const body = await answer.json()
    if (answer.ok) return body
    return { refused: body.error.message, again: passing.has(body.error.code) }
  }

  function connected() {
    tries = 0
    show('connected')
    channel?.ping()
    $('[data-figures]').textContent = viewer.size()
  }

  /** @param {string} words @param {boolean} again */
  function closed(words, again) {
    if (!again) return show('closed', words)
    const seconds = /** @type {number} */ (WAITS[Math.min(tries, WAITS.length - 1)])
    tries++
    show('closed', `${words} Trying again in ${seconds} s.`)
    timer = setTimeout(retry, seconds * 1000)
  }

  /** A page in the background waits: it connects when it is seen again. */
  function retry() {
    if (!document.hidden) return void connect()
    document.addEventListener('visibilitychange', retry, { once: true })
  }

  setInterval(() => !document.hidden && channel?.ping(), PING_MS)

  const toolbar = createToolbar(root, viewer, () => {
    tries = 0
    return connect()
  })
  void connect()
}
