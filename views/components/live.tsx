import type { ComponentChildren } from 'preact'
import type { At } from '../../src/kernel/web/page.ts'
import { useAt } from '../../src/kernel/web/page-context.ts'

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
  const at = useAt()
  const polling = every !== undefined && {
    'hx-get': here(at),
    'hx-trigger': `every ${every}s`,
    'hx-select': `#${id}`,
    'hx-swap': 'outerMorph',
    'hx-sync': 'drop',
  }
  return (
    <div id={id} class={look || undefined} {...polling}>
      {children}
    </div>
  )
}
