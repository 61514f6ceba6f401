// A job's log: asks for new lines until the job has ended, and follows the end unless the reader scrolls up.
// @ts-check

import { copy } from './copy.js'
import { component, make } from './page.js'
import { refresh } from './redraw.js'
import { clock, exactly } from './times.js'

component('jobLog', () => ({
  following: true,
  /** @this {any} */
  init() {
    if (this.$root.dataset.ended !== undefined) return
    this.toEnd()
    this.ask()
  },
  /** @this {any} */
  async ask() {
    const { lines, none } = this.$refs
    if (!lines.isConnected) return
    const last = lines.lastElementChild?.id.slice(1) ?? '0'
    const answer = document.hidden
      ? undefined
      : await fetch(`${this.$root.dataset.url}?after=${last}`, { headers: { Accept: 'application/json' } }).then(
          (r) => (r.ok ? r.json() : undefined),
          () => undefined,
        )
    if (answer) {
      for (const { n, at, level, text } of answer.lines)
        lines.append(
          make(
            'li',
            { id: `L${n}`, class: level },
            make('a', { href: `#L${n}`, 'aria-label': `Line ${n}` }, String(n)),
            make(
              'time',
              { datetime: at, title: exactly.format(Date.parse(at)), 'data-clock': '' },
              clock.format(Date.parse(at)),
            ),
            make('span', {}, text),
          ),
        )
      if (lines.firstElementChild) none.hidden = true
      if (answer.lines.length) this.toEnd()
      if (answer.state === 'succeeded' || answer.state === 'failed') {
        this.$refs.follow.hidden = true
        return refresh()
      }
    }
    setTimeout(() => this.ask(), 1000)
  },
  /** @this {any} */
  toEnd() {
    if (this.following) this.$refs.lines.scrollTop = this.$refs.lines.scrollHeight
  },
  /** @this {any} */
  scrolled() {
    const { scrollTop, scrollHeight, clientHeight } = this.$refs.lines
    this.follow(scrollTop + clientHeight > scrollHeight - 24)
  },
  /** @this {any} */
  toggle() {
    this.follow(!this.following)
    this.toEnd()
  },
  /** @this {any} */
  follow(/** @type {boolean} */ yes) {
    this.following = yes
    this.$refs.follow?.setAttribute('aria-pressed', String(yes))
  },
  /** @this {any} */
  copyAll() {
    copy(this.text())
  },
  /** @this {any} */
  save() {
    const href = URL.createObjectURL(new Blob([`${this.text()}\n`], { type: 'text/plain' }))
    make('a', { href, download: `${this.$root.dataset.name}.log` }).click()
    setTimeout(() => URL.revokeObjectURL(href), 1000)
  },
  /** @this {any} */
  text() {
    const line = (/** @type {Element} */ li) =>
      [...li.children].map((c) => (c instanceof HTMLTimeElement ? c.dateTime : c.textContent)).join(' ')
    return [...this.$refs.lines.children].map(line).join('\n')
  },
}))
