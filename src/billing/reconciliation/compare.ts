// The monthly check: the list of a billing system against the servers and GPU instances that are there, each difference
// in words.
import { type CurrentService, GPU_INSTANCE } from '../usage/queries.ts'

export const listedStates = ['active', 'suspended', 'terminated'] as const
/**
 * A line of the billing system's list. `serverId`, `instanceId` or `billingServiceId` names the server or GPU instance;
 * the rest is optional.
 */
export type ListedService = {
  serverId?: string | null
  instanceId?: string | null
  billingServiceId?: string | null
  ownerExternalId?: string | null
  billingProductId?: string | null
  state?: (typeof listedStates)[number] | null
}

export const differenceKinds = [
  'missing_here',
  'missing_there',
  'listed_twice',
  'other_state',
  'other_product',
  'other_owner',
] as const
export type Difference = {
  kind: (typeof differenceKinds)[number]
  /** The line of the list, from 1; null where the list has none. */
  line: number | null
  serverId: string | null
  instanceId: string | null
  hostname: string | null
  billingServiceId: string | null
  /** The value on either side; null where there is none. */
  there: string | null
  here: string | null
  words: string
}

type Here = CurrentService & { ownerExternalId: string | null; ownerName: string }
/** The end of what is no longer there, in ms; undefined where it never was. */
type EndOf = (listed: ListedService) => number | undefined

/** Compares each line with the server or GPU instance that it names, and finds those that no line names. */
export function compare(list: readonly ListedService[], here: readonly Here[], endOf: EndOf): Difference[] {
  const byId = new Map(here.map((one) => [one.workloadId, one]))
  const byService = new Map(here.flatMap((one) => (one.billingServiceId ? [[one.billingServiceId, one] as const] : [])))
  const lines = new Map<string, number>()
  const found: Difference[] = []
  for (const [i, listed] of list.entries()) {
    const line = i + 1
    const one = byId.get(workloadIdOf(listed)) ?? byService.get(listed.billingServiceId ?? '')
    if (!one) {
      if (listed.state !== 'terminated') found.push(missingHere(listed, line, endOf(listed)))
      continue
    }
    const first = lines.get(one.workloadId)
    if (first !== undefined) found.push(listedTwice(one, line, first))
    else lines.set(one.workloadId, line)
    found.push(...differencesOf(listed, one, line))
  }
  for (const one of here)
    if (!lines.has(one.workloadId))
      found.push({
        ...about(one, null),
        kind: 'missing_there',
        there: null,
        here: stateOf(one),
        words: `${one.hostname} of ${one.ownerName} is ${stateOf(one)} here and is not in the list: it is not billed.`,
      })
  return found
}

/** The id of a server or GPU instance in a line; empty where it has none. */
export const workloadIdOf = ({ serverId, instanceId }: ListedService) => serverId || instanceId || ''

const about = (one: Here, line: number | null) => ({
  line,
  serverId: one.kind === GPU_INSTANCE ? null : one.workloadId,
  instanceId: one.kind === GPU_INSTANCE ? one.workloadId : null,
  hostname: one.hostname,
  billingServiceId: one.billingServiceId,
})
/** A service that waits for its setup, is being installed, is stopped or failed is sold: billing calls it active. */
const stateOf = ({ state }: Here) => (state === 'suspended' ? 'suspended' : 'active')
const nameOf = (listed: ListedService) => listed.billingServiceId ?? workloadIdOf(listed)

function missingHere(listed: ListedService, line: number, endedAt: number | undefined): Difference {
  const name = nameOf(listed)
  const since = endedAt === undefined ? undefined : new Date(endedAt).toISOString()
  return {
    kind: 'missing_here',
    line,
    serverId: listed.serverId ?? null,
    instanceId: listed.instanceId ?? null,
    hostname: null,
    billingServiceId: listed.billingServiceId ?? null,
    there: listed.state ?? null,
    here: since ? 'terminated' : null,
    words: since
      ? `${name} is in the list and was terminated here at ${since}: it is billed although it is gone.`
      : `${name} is in the list and there is no such server or GPU instance here.`,
  }
}

const listedTwice = (one: Here, line: number, first: number): Difference => ({
  ...about(one, line),
  kind: 'listed_twice',
  there: String(first),
  here: null,
  words: `${one.hostname} is in the list twice, in lines ${first} and ${line}: it is billed twice.`,
})

function differencesOf(listed: ListedService, one: Here, line: number): Difference[] {
  const compared = [
    ['other_state', listed.state, stateOf(one), 'state'],
    ['other_product', listed.billingProductId, one.billingProductId, 'product'],
    ['other_owner', listed.ownerExternalId, one.ownerExternalId, 'owner'],
  ] as const
  return compared.flatMap(([kind, there, here, what]) =>
    there === undefined || there === null || there === here
      ? []
      : [
          {
            ...about(one, line),
            kind,
            there,
            here,
            words: `The ${what} of ${one.hostname} is ${there} in the list and ${here ?? 'not set'} here.`,
          },
        ],
  )
}
