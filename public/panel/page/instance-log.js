// The log of a GPU instance: asks its host for what came since, and stays at the end unless the reader scrolls up or
// pauses it.
// @ts-check

import { $, make } from './page.js'

const SOON_MS = 1000
/** Where nothing is written, the host is asked less and less often. */
const SELDOM_MS = 5000
const MOST_LINES = 5000
/** So near is at the end. */
const NEAR_PX = 24

const root = $('[data-instance-log]')
if (root) follow(root)

function follow(/** @type {HTMLElement} */ section) {
  const part = (/** @type {string} */ name) => /** @type {HTMLElement} */ ($(`[data-log-${name}]`, section))
  const box = part('box')
  const lines = part('lines')
  const empty = part('empty')
  const state = part('state')
  const pause = /** @type {HTMLButtonElement} */ (part('pause'))
  const resume = /** @type {HTMLButtonElement} */ (part('resume'))
  const jump = /** @type {HTMLButtonElement} */ (part('jump'))
  let cursor = section.dataset['cursor'] ?? ''
  let waitMs = SOON_MS
  let timer = 0

  const isPaused = () => pause.hidden
  // The box is drawn from its end: 0 is the end, and what is above it is negative.
  const isAtEnd = () => box.scrollTop > -NEAR_PX
  const showJump = () => {
    jump.hidden = isAtEnd()
  }
  const setPaused = (/** @type {boolean} */ yes) => {
    const hasFocus = [pause, resume].some((button) => button === document.activeElement)
    pause.hidden = yes
    resume.hidden = !yes
    if (hasFocus) (yes ? resume : pause).focus()
    if (!yes) soon()
    state.textContent = yes ? 'Paused' : ''
  }
  const soon = () => {
    clearTimeout(timer)
    waitMs = SOON_MS
    void ask()
  }

  /** Adds lines at the end, and keeps what the reader looks at where it is. */
  function add(/** @type {string[]} */ fresh, /** @type {boolean} */ isAnew, /** @type {boolean} */ hasGap) {
    const before = { atEnd: isAtEnd(), top: box.scrollTop, height: box.scrollHeight }
    if (isAnew) lines.replaceChildren()
    if (hasGap && !isAnew) lines.append(make('li', { class: 'warning' }, 'Some lines are left out here.'))
    lines.append(...fresh.map((text) => make('li', {}, make('span', {}, text))))
    while (lines.childElementCount > MOST_LINES) lines.firstElementChild?.remove()
    box.scrollTop = before.atEnd ? 0 : before.top - (box.scrollHeight - before.height)
    showJump()
  }

  async function ask() {
    if (!section.isConnected) return
    if (!isPaused() && !document.hidden) {
      const query = cursor && `&since=${cursor}`
      const answer = await fetch(`${section.dataset['url']}?lines=1000${query}`, {
        headers: { Accept: 'application/json' },
      }).then(
        (response) => (response.ok ? response.json() : undefined),
        () => undefined,
      )
      if (answer && !isPaused()) take(answer)
      else waitMs = SELDOM_MS
    }
    clearTimeout(timer)
    timer = setTimeout(ask, waitMs)
  }

  /**
   * @param {{ state: string, lines: string[], truncated: boolean, continues: boolean, cursor: string | null }} answer
   */
  function take(answer) {
    const isRead = answer.state === 'read'
    // An older host always gives its last lines: they are drawn anew when they are others.
    const isAnew = isRead && !answer.continues && answer.lines.join('\n') !== textOf()
    if (isRead && (isAnew || (answer.continues && answer.lines.length))) {
      add(answer.lines, isAnew, answer.truncated)
      waitMs = SOON_MS
    } else waitMs = Math.min(waitMs * 1.5, SELDOM_MS)
    if (isRead) cursor = answer.cursor ?? ''
    section.dataset['state'] = answer.state
    const hasNone = !lines.firstElementChild
    box.hidden = hasNone
    empty.hidden = !hasNone
    empty.textContent = empty.dataset[answer.state] ?? ''
    state.textContent = isRead || hasNone ? '' : (empty.dataset[answer.state] ?? '')
  }
  const textOf = () => [...lines.children].map(({ textContent }) => textContent).join('\n')

  // Where lines come, the place is kept here and not by the browser too.
  box.style.overflowAnchor = 'none'
  box.addEventListener('scroll', showJump)
  pause.addEventListener('click', () => setPaused(true))
  resume.addEventListener('click', () => setPaused(false))
  jump.addEventListener('click', () => {
    box.scrollTop = 0
    box.focus()
    showJump()
  })
  document.addEventListener('visibilitychange', () => document.hidden || soon())
  pause.hidden = false
  timer = setTimeout(ask, SOON_MS)
}
