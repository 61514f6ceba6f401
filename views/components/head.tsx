import type { ComponentChildren } from 'preact'
import { navTree } from '../../src/kernel/web/navigation.ts'
import { useAt } from '../../src/kernel/web/page-context.ts'
import { Help } from '../platform/documents/chapter-link.tsx'
import { Link } from './link.tsx'

type HeadProps = {
  title: ComponentChildren
  /** The pages above this one, from the outermost, as [words, address]. */
  trail?: readonly (readonly [string, string])[] | undefined
  /** Before the title. */
  tile?: ComponentChildren
  /** Beside the title, e.g. a `<State tag>`. */
  state?: ComponentChildren
  /** Facts below the title; each child stands apart from the next by a dot. */
  sub?: ComponentChildren
  actions?: ComponentChildren
}

/** The header of a page: the way here, the title, and what can be done with the thing. */
export const Head = ({ title, tile, trail, state, sub, actions }: HeadProps) => (
  <>
    <div class="head">
      {trail && (
        <nav aria-label="Breadcrumb">
          <ol class="trail">
            {trail.map(([words, href]) => (
              <li>
                <Link href={href}>{words}</Link>
              </li>
            ))}
            <li>
              <span aria-current="page">{title}</span>
            </li>
          </ol>
        </nav>
      )}
      <div class="title">
        {tile}
        <h1>{title}</h1>
        {state}
        <Help />
        {actions && <div class="acts wide">{actions}</div>}
      </div>
      {sub && <div class="sub">{sub}</div>}
    </div>
    <TabsOfNavigation />
  </>
)

/** Below the title of a page that shares its entry of the navigation with others: the way to them. */
function TabsOfNavigation() {
  const at = useAt()
  const groups = navTree(at.registry, at.actor.kind, at.isInNav).flatMap(([, entries]) => entries)
  const found = groups.find(({ tabs }) => tabs.length > 1 && tabs.some(({ href }) => href === at.path))
  return found ? (
    <nav class="tabs" aria-label={found.entry.together ?? found.entry.title}>
      {found.tabs.map(({ href, title }) => (
        <a href={href} aria-current={href === at.path ? 'page' : undefined}>
          {title}
        </a>
      ))}
    </nav>
  ) : null
}
