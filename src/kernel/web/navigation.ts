// The navigation, and what can be done from the search: both from what features declare.
import type { AccountKind } from '../api/access.ts'
import type { Actor } from '../api/actor.ts'
import { mayCall, type Operation, type ReadContext } from '../api/operation.ts'
import type { Db } from '../db/open.ts'

/** `1 away`, in red where it is `bad`. */
export type NavMark = { words: string; bad: boolean }

export type NavEntry = {
  /** Kinds of account whose navigation has it. */
  kinds: readonly AccountKind[]
  /** Its heading; empty for the first group, which has none. */
  group: string
  /** Smaller comes first; groups stand in the order of their first entries. */
  position: number
  /** The value of a page's `nav`. */
  name: string
  title: string
  href: string
  /** In the menu of the account, not in the navigation at the side. */
  menu?: true
  /**
   * The name of another entry of these kinds: it is a tab on the pages of that one, which stands for both at the side.
   * The search finds it as every other one.
   */
  within?: string
  /** The words for the entry and those within it together; left out: its title. */
  together?: string
  /** Words beside it; undefined: none. Every page asks for them: no statement may scan. */
  mark?: (call: ReadContext) => NavMark | undefined
  /** Name of an icon of the product. */
  icon: string
  /** Shown to an actor who may call it. */
  sees: Operation
  /** Of those, to whom there is something to show; left out: to all. */
  has?: (tx: Db, actor: Actor) => boolean
}

/** Something to do, with the page where it is done. */
export type ActionEntry = {
  kinds: readonly AccountKind[]
  position: number
  title: string
  page: string
  /** The dialog of the operation opens by itself when the page has loaded. */
  dialog?: true
  does: Operation
}

type Entries = { nav: readonly NavEntry[]; actions: readonly ActionEntry[] }

/** The id of an operation's dialog on a page, where it is about no single thing. */
export const dialogId = ({ id }: Pick<Operation, 'id'>) => id.replace(/[^A-Za-z0-9]+/g, '-')

/** The groups of the navigation of a kind of account, each with its entries. */
export const navGroups = ({ nav }: Entries, kind: AccountKind): [group: string, entries: NavEntry[]][] => [
  ...Map.groupBy(
    nav.filter(({ kinds }) => kinds.includes(kind)).toSorted((a, b) => a.position - b.position),
    ({ group }) => group,
  ),
]

/** An entry of the first level, and what its pages have as tabs: itself first. */
export type NavTabs = { entry: NavEntry; tabs: readonly NavEntry[] }
/** The first level of the navigation of a kind of account, by its groups. `shows`: does its reader see the entry? */
export function navTree(
  entries: Entries,
  kind: AccountKind,
  shows: (entry: NavEntry) => boolean,
): [group: string, NavTabs[]][] {
  const groups = navGroups(entries, kind)
  const all = groups.flatMap(([, of]) => of)
  const tabsOf = (entry: NavEntry) =>
    [entry, ...all.filter(({ within }) => within === entry.name)].filter((one) => shows(one))
  return groups.map(([group, of]) => [
    group,
    of
      .filter(({ within, menu }) => !within && !menu)
      .map((entry) => ({ entry, tabs: tabsOf(entry) }))
      .filter(({ tabs }) => tabs.length > 0),
  ])
}

/** The actions of this actor, in the order of `position`. */
export const actionsOf = ({ actions }: Entries, actor: Actor): { type: 'action'; title: string; href: string }[] =>
  actions
    .filter(({ kinds, does }) => kinds.includes(actor.kind) && mayCall(does, actor))
    .toSorted((a, b) => a.position - b.position)
    .map(({ title, page, dialog, does }) => ({
      type: 'action',
      title,
      href: dialog ? `${page}#${dialogId(does)}` : page,
    }))

/** Does the navigation of this actor have the entry? */
export const isInNav = ({ sees, has }: NavEntry, tx: Db, actor: Actor): boolean =>
  mayCall(sees, actor) && (has?.(tx, actor) ?? true)

/** For the search: what the navigation shows this actor, and what they can do. */
export const navItems = (
  entries: Entries,
  tx: Db,
  actor: Actor,
): { type: 'page' | 'action'; title: string; href: string }[] => [
  ...navGroups(entries, actor.kind).flatMap(([, of]) =>
    of.filter((entry) => isInNav(entry, tx, actor)).map(({ title, href }) => ({ type: 'page' as const, title, href })),
  ),
  ...actionsOf(entries, actor),
]
