// The context of every component of a page: the reader, the address, and the files for the browser.
import { createContext, createElement } from 'preact'
import { useContext } from 'preact/hooks'
import type { Html } from './html.ts'
import type { At } from './page.ts'

export type PageContext = {
  at: At
  /** The address of a file of `public/assets.ts`; throws for a name that is not there. */
  asset(name: string): string
  /**
   * The part of the page that is fetched alone; rendering puts its markup into `text`, and that of the parts which come
   * with it into `beside`.
   */
  part?: { id: string; text?: string; beside?: string }
}

const context = createContext<PageContext | undefined>(undefined)

/** Provides the context to `inner`. Nested, it replaces the outer one: a part may be drawn for a narrower reader. */
export const inContext = (value: PageContext, inner: Html): Html =>
  createElement(context.Provider, { value, children: inner })

/** The context of the page that is being rendered. Throws outside of a page: there is no reader then. */
export function usePageContext(): PageContext {
  const value = useContext(context)
  if (!value) throw new Error('a component of a page was rendered outside of a page')
  return value
}

/** The reader and the place. */
export const useAt = (): At => usePageContext().at
