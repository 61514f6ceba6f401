// The navigation of each kind of account, and the account's own menu, both from what features declare.
import { signOut } from '../../src/identity/auth/sign-in/sign-in.ts'
import { type NavEntry, navGroups } from '../../src/kernel/web/navigation.ts'
import { useAt } from '../../src/kernel/web/page-context.ts'
import { Action } from '../components/action.tsx'
import { Icon, type IconName } from '../components/icon.tsx'

export function Navigation({ current }: { current: string | undefined }) {
  const at = useAt()
  const groups = navGroups(at.registry, at.actor.kind).map(
    ([title, entries]) => [title, entries.filter((e) => !e.menu && at.isInNav(e))] as const,
  )
  return (
    <nav class="side" id="nav" aria-label="Main">
      {groups.map(([title, entries]) => (
        <NavGroup title={title} entries={entries} current={current} />
      ))}
    </nav>
  )
}

const NavGroup = (props: { title: string; entries: readonly NavEntry[]; current: string | undefined }) =>
  props.entries.length > 0 ? (
    <>
      {props.title && <h2>{props.title}</h2>}
      {props.entries.map((e) => (
        <a href={e.href} aria-current={e.name === props.current ? 'page' : undefined}>
          <Icon name={e.icon as IconName} />
          {e.title}
        </a>
      ))}
    </>
  ) : null

const initials = (name: string) =>
  name
    .split(/\s+/)
    .filter(Boolean)
    .map((word) => [...word][0]!.toUpperCase())
    .filter((_, i, all) => i === 0 || i === all.length - 1)
    .join('')

/** Behind the reader's name: the account's pages and the way out. */
export function AccountMenu({ current }: { current: string | undefined }) {
  const at = useAt()
  const entries = navGroups(at.registry, at.actor.kind).flatMap(([, all]) => all.filter((e) => e.menu))
  return (
    <details class="menu me">
      <summary role="button">
        <span class="face" aria-hidden="true">
          {initials(at.actor.name)}
        </span>
        <span class="sr">Account: </span>
        <span class="who">{at.actor.name}</span>
        <Icon name="chevron-down" class="who" />
      </summary>
      <div class="pop">
        {entries
          .filter((e) => at.isInNav(e))
          .map((e) => (
            <a href={e.href} aria-current={e.name === current ? 'page' : undefined}>
              <Icon name={e.icon as IconName} />
              {e.title}
            </a>
          ))}
        {at.brand.support && (
          <a href={at.brand.support}>
            <Icon name="mail" />
            Contact support
          </a>
        )}
        <hr />
        <Action op={signOut} label="Sign out" icon="out" leadsTo="/login" inMenu />
      </div>
    </details>
  )
}
