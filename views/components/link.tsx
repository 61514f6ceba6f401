import type { ComponentChildren } from 'preact'
import { href as safe } from '../../src/kernel/web/html.ts'
import { useAt } from '../../src/kernel/web/page-context.ts'
import type { Address, ParamsOf } from '../addresses.ts'

type To = { [A in Address]: { to: A; params?: ParamsOf<A>; query?: Readonly<Record<string, string>> } }[Address]
type LinkProps = (To | { href: string }) & {
  class?: string
  title?: string
  /** The dialog that has the same as the page, by its id: with scripts it is opened instead. */
  opens?: string
  children: ComponentChildren
  /** Read instead of the words, where they alone do not say what is meant. */
  'aria-label'?: string
  'aria-current'?: 'page' | 'step' | undefined
}

/** The address of a page with its parameters filled in. */
export function addressOf<A extends Address>(to: A, params?: ParamsOf<A>, query?: Readonly<Record<string, string>>) {
  const path = to.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent((params as any)?.[name] ?? ''))
  return query ? `${path}?${new URLSearchParams(query)}` : path
}

/**
 * A link to a page. A reader who would be refused there gets the words alone, and nothing of a link that looks like a
 * button.
 */
export function Link({ class: look, title, children, ...rest }: LinkProps) {
  const at = useAt()
  const href = 'to' in rest ? addressOf(rest.to, rest.params as never, rest.query) : safe(rest.href)
  if (!at.leads(href))
    return look?.split(' ').includes('btn') ? null : (
      <span class={look} title={title}>
        {children}
      </span>
    )
  return (
    <a
      href={href}
      class={look}
      title={title}
      data-dialog={rest.opens}
      aria-label={rest['aria-label']}
      aria-current={rest['aria-current']}
    >
      {children}
    </a>
  )
}
