import type { ComponentChildren } from 'preact'
import { markup, rendered } from '../../src/kernel/web/html.ts'
import type { At } from '../../src/kernel/web/page.ts'
import { inContext, usePageContext } from '../../src/kernel/web/page-context.ts'

/** The address of this page, with its query. */
export const here = (at: Pick<At, 'path' | 'query'>) => {
  const query = new URLSearchParams(at.query).toString()
  return at.path + (query && `?${query}`)
}

type LiveProps = { id: string; every: number | undefined; class?: string; children?: ComponentChildren }

/**
 * A part of a page that is fetched again every so many seconds; `every` undefined: it has ended. It is morphed in
 * place, so that focus, open dialogs and what is being typed stay.
 */
export function Live({ id, every, class: look = 'live', children }: LiveProps) {
  const context = usePageContext()
  const { at, part } = context
  const polling = every !== undefined && {
    'hx-get': here(at),
    'hx-trigger': `every ${every}s`,
    'hx-select': `#${id}`,
    'hx-swap': 'outerMorph',
    'hx-sync': 'drop',
  }
  const drawn = (
    <div id={id} class={look || undefined} {...polling}>
      {children}
    </div>
  )
  if (part?.id !== id) return drawn
  const { part: _, ...rest } = context
  part.text = rendered(inContext(rest, drawn))
  return markup(part.text)
}

type BesideProps = { of: string; id: string; children?: ComponentChildren }
/** A part that does not ask by itself: it comes with the live part `of`, so that a page of several asks once. */
export function Beside({ of, id, children }: BesideProps) {
  const context = usePageContext()
  const { part } = context
  const drawn = (swap: object) => (
    <div id={id} class="live" {...swap}>
      {children}
    </div>
  )
  if (part?.id !== of) return drawn({})
  const { part: _, ...rest } = context
  part.beside = (part.beside ?? '') + rendered(inContext(rest, drawn({ 'hx-swap-oob': 'outerMorph' })))
  return null
}
