import { rightsKey } from '../api/operation.ts'
import { type Html, markup, rendered } from './html.ts'
import type { At } from './page.ts'
import { inContext, usePageContext } from './page-context.ts'

/**
 * Keeps rendered markup between pages, for readers with the same rights. The answer takes `key` (what is drawn),
 * `record` (the data that it shows; a change renders it again) and `render`. Inside, a component that asks for the
 * time, the address, the reader's name or choices throws, because they differ between readers with the same rights.
 */
export function useMarkupPerRights(): (key: string, record: string, render: () => Html) => string {
  const context = usePageContext()
  const reader = new Bun.CryptoHasher('sha256').update(rightsKey(context.at.actor)).digest('base64')
  const within = { ...context, at: rightsOnly(context.at) }
  return (key, record, render) =>
    context.markupCache.text(`${key} ${reader}`, record, () => rendered(inContext(within, render())))
}

/** A part of every page that is the same for readers with the same rights. */
export const PerRights = ({ name, render }: { name: string; render: () => Html }) =>
  markup(useMarkupPerRights()(name, '', render))

const rightsOnly = ({ may, leads, registry, actor }: At): At => {
  const { kind, scopes, permissions, isOwner, lacksSecondFactor, via } = actor
  const rights = { kind, scopes, permissions, isOwner, lacksSecondFactor, via: only({ type: via.type }) }
  return only({ may, leads, registry, actor: only(rights) }) as At
}

const only = <T extends object>(values: T) =>
  new Proxy(values, {
    get(target, name) {
      if (name in target) return target[name as keyof T]
      throw new Error(`markup that is kept asked for \`${String(name)}\``)
    },
  }) as any
