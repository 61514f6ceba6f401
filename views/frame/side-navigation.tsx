// The navigation of each kind of account, and the account's own menu, both from what features declare.
import { signOut } from '../../src/identity/auth/sign-in/sign-in.ts'
import { type NavEntry, type NavTabs, navGroups, navTree } from '../../src/kernel/web/navigation.ts'
import { useAt } from '../../src/kernel/web/page-context.ts'
import { Action } from '../components/action.tsx'
import { Icon, type IconName } from '../components/icon.tsx'
import { Link } from '../components/link.tsx'

type Marks = readonly { name: string; words: string; bad: boolean }[]
type NavigationProps = { current: string | undefined; marks: Marks | undefined }
/** An entry stands for the pages within it too, and leads to the first that its reader has. */
export function Navigation({ current, marks }: NavigationProps) {
  const at = useAt()
  const groups = navTree(at.registry, at.actor.kind, at.isInNav)
  return (
    <nav class="side" id="nav" aria-label="Main">
      {groups.map(([title, entries]) => (
        <NavGroup title={title} entries={entries} current={current} marks={marks} />
      ))}
    </nav>
  )
}

const NavGroup = (props: NavigationProps & { title: string; entries: readonly NavTabs[] }) =>
  props.entries.length > 0 ? (
    <>
      {props.title && <h2>{props.title}</h2>}
      {props.entries.map(({ entry, tabs }) => (
        <a href={tabs[0]!.href} aria-current={tabs.some(({ name }) => name === props.current) ? 'page' : undefined}>
          <Icon name={entry.icon as IconName} />
          {tabs.length > 1 ? (entry.together ?? entry.title) : tabs[0]!.title}
          {entry.mark && <NavMark of={entry} marks={props.marks} />}
        </a>
      ))}
    </>
  ) : null

/** Every answer that holds newer marks puts each in its place. */
function NavMark({ of: { name }, marks = [] }: { of: NavEntry; marks: Marks | undefined }) {
  const mark = marks.find((one) => one.name === name)
  return (
    <span class={`n${mark?.bad ? ' bad' : ''}`} id={`mark-${name}`} hx-swap-oob="outerMorph" hidden={!mark}>
      {mark?.words}
    </span>
  )
}

/** All marks of the reader's navigation, for an answer that holds a part of a page. */
export function NavMarks({ marks }: { marks: Marks }) {
  const at = useAt()
  return (
    <>
      {navTree(at.registry, at.actor.kind, at.isInNav).flatMap(([, entries]) =>
        entries.flatMap(({ entry }) => (entry.mark ? [<NavMark of={entry} marks={marks} />] : [])),
      )}
    </>
  )
}

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
        <Link to="/shortcuts" opens="shortcuts">
          <Icon name="keyboard" />
          Keyboard shortcuts
        </Link>
        {at.brand.support && (
          <a href={at.brand.support}>
            <Icon name="mail" />
            Contact support
          </a>
        )}
        <hr />
        <Action op={signOut} label="Sign out" icon="out" leadsTo="/login" takenBy="/sign-out" inMenu />
      </div>
    </details>
  )
}
