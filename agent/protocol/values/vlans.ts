// VLANs of an uplink: their ids, ranges of them as text, and the uplink as a node reports it.
import { type Static, Type as t } from 'typebox'
import { bridgeName, line } from '../bounds.ts'

/** The ids of IEEE 802.1Q; 0 and 4095 are reserved. */
export const FIRST_VLAN = 1
export const LAST_VLAN = 4094
export const vlanId = t.Integer({ minimum: FIRST_VLAN, maximum: LAST_VLAN })
/** Both ends included. */
export const VlanRange = t.Object({ first: vlanId, last: vlanId }, { title: 'VlanRange' })
export type VlanRange = Static<typeof VlanRange>

export const MOST_RANGES = 256
const MOST_PORTS = 32
/** `apart`: it has link, and the switch does not take it into the aggregate of the others. */
export const bondPortStates = ['up', 'down', 'apart'] as const

/**
 * The interface that leads out of the node, and the VLANs that are carried on it without those that the host uses for
 * itself. `problem`: why they are fewer than the operator said, in words.
 */
export const Uplink = t.Object(
  {
    name: bridgeName,
    /** It has link. */
    up: t.Boolean(),
    vlans: t.Array(VlanRange, { maxItems: MOST_RANGES }),
    /** Left out where it is no bond. */
    bond: t.Optional(
      t.Object(
        {
          mode: line(60),
          ports: t.Array(t.Object({ name: bridgeName, state: t.Enum(bondPortStates) }), { maxItems: MOST_PORTS }),
        },
        { title: 'Bond' },
      ),
    ),
    problem: t.Optional(line(300)),
  },
  { title: 'Uplink' },
)
export type Uplink = Static<typeof Uplink>

export const ALL_VLANS: readonly VlanRange[] = [{ first: FIRST_VLAN, last: LAST_VLAN }]

/** The ranges of a list such as `20,100-199`, or of `all`, in order and merged. Undefined: the text is no such list. */
export function vlanRangesOf(text: string): VlanRange[] | undefined {
  if (text.trim() === 'all') return [...ALL_VLANS]
  const found: VlanRange[] = []
  for (const word of text.split(',')) {
    const [, a, b] = /^\s*(\d{1,4})(?:-(\d{1,4}))?\s*$/.exec(word) ?? []
    const [first, last] = [Number(a), Number(b ?? a)]
    if (a === undefined || first < FIRST_VLAN || last > LAST_VLAN || first > last) return undefined
    found.push({ first, last })
  }
  const merged: VlanRange[] = []
  for (const range of found.toSorted((a, b) => a.first - b.first)) {
    const before = merged.at(-1)
    if (before && range.first <= before.last + 1) before.last = Math.max(before.last, range.last)
    else merged.push({ ...range })
  }
  return merged.length > MOST_RANGES ? undefined : merged
}

/** The ranges without these ids. */
export const withoutVlans = (ranges: readonly VlanRange[], ids: readonly number[]): VlanRange[] =>
  ids.reduce<VlanRange[]>(
    (left, id) =>
      left.flatMap(({ first, last }) =>
        id < first || id > last
          ? [{ first, last }]
          : [
              { first, last: id - 1 },
              { first: id + 1, last },
            ].filter((range) => range.first <= range.last),
      ),
    [...ranges],
  )

export const hasVlan = (ranges: readonly VlanRange[], id: number): boolean =>
  ranges.some(({ first, last }) => first <= id && id <= last)

/** `all`, `none`, or a list such as `20, 100-199`. */
export function vlansText(ranges: readonly VlanRange[]): string {
  if (!ranges.length) return 'none'
  if (ranges.some(({ first, last }) => first === FIRST_VLAN && last === LAST_VLAN)) return 'all'
  return ranges.map(({ first, last }) => (first === last ? `${first}` : `${first}-${last}`)).join(', ')
}
