// The monthly check: the list of a billing system against the servers and GPU instances that are there, each difference
// in words.
import type { Slices } from '../../kernel/slices.ts'
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
  'other_identifier',
  'other_state',
  'other_product',
  'other_owner',
  'billed_by_reseller',
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

/** `resellerName`: the reseller that bills it, where the reader does not. */
export type Here = CurrentService & {
  ownerExternalId: string | null
  ownerName: string
  resellerName: string | null
}
/** The end of what is no longer there, in ms; undefined where it never was. */
type EndOf = (listed: ListedService) => number | undefined

/** Compares each line with the server or GPU instance that it names, and finds those that no line names. */
export async function compare(
  list: readonly ListedService[],
  here: readonly Here[],
  endOf: EndOf,
  slices: Slices,
): Promise<Difference[]> {
  const known = await Known.of(here, slices)
  const lines = new Map<string, number>()
  const found: Difference[] = []
  for (const [i, listed] of list.entries()) {
    if (slices.isOver) await slices.rest()
    const line = i + 1
    const one = known.byId(workloadIdOf(listed)) ?? known.byService(listed.billingServiceId)
    if (!one) {
      if (listed.state !== 'terminated') found.push(missingHere(listed, line, endOf(listed)))
      continue
    }
    const first = lines.get(one.workloadId)
    if (first !== undefined) found.push(listedTwice(one, line, first))
    else lines.set(one.workloadId, line)
    found.push(...(one.resellerName === null ? differencesOf(listed, one, line, known) : [ofReseller(one, line)]))
  }
  for (const one of here) {
    if (slices.isOver) await slices.rest()
    if (one.resellerName === null && !lines.has(one.workloadId)) found.push(missingThere(one))
  }
  return found
}

/** The servers and GPU instances by their identifiers. */
class Known {
  private readonly ids = new Map<string, Here>()
  private readonly services = new Map<string, Here>()

  static async of(here: readonly Here[], slices: Slices): Promise<Known> {
    const known = new Known()
    for (const one of here) {
      known.ids.set(one.workloadId, one)
      if (one.billingServiceId) known.services.set(one.billingServiceId, one)
      if (slices.isOver) await slices.rest()
    }
    return known
  }
  byId = (id: string): Here | undefined => this.ids.get(id)
  byService = (id: string | null | undefined): Here | undefined =>
    id ? (this.services.get(id) ?? this.services.get(wholeNumber(id))) : undefined
}

/** A spreadsheet program makes `1001.0` of the identifier 1001. */
const wholeNumber = (text: string) => (/^\d+\.0+$/.test(text) ? text.slice(0, text.indexOf('.')) : text)
const isSame = (there: string, here: string | null) => there === here || wholeNumber(there) === here

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

const missingThere = (one: Here): Difference => ({
  ...about(one, null),
  kind: 'missing_there',
  there: null,
  here: stateOf(one),
  words: `${one.hostname} of ${one.ownerName} is ${stateOf(one)} here and is not in the list: it is not billed.`,
})

const listedTwice = (one: Here, line: number, first: number): Difference => ({
  ...about(one, line),
  kind: 'listed_twice',
  there: String(first),
  here: null,
  words: `${one.hostname} is in the list twice, in lines ${first} and ${line}: it is billed twice.`,
})

const ofReseller = (one: Here, line: number): Difference => ({
  ...about(one, line),
  kind: 'billed_by_reseller',
  there: null,
  here: one.resellerName,
  words: `${one.hostname} of ${one.ownerName} is in the list. It is not billed here, but by ${one.resellerName}.`,
})

/** The identifiers of a line that are not those of the server or GPU instance that was found by one of them. */
function otherIdentifiers(listed: ListedService, one: Here, line: number, known: Known): Difference[] {
  const identifiers = [
    ['serverId', listed.serverId, one.workloadId, known.byId(listed.serverId ?? '')],
    ['instanceId', listed.instanceId, one.workloadId, known.byId(listed.instanceId ?? '')],
    ['billingServiceId', listed.billingServiceId, one.billingServiceId, known.byService(listed.billingServiceId)],
  ] as const
  return identifiers.flatMap(([name, there, here, other]): Difference[] =>
    !there || isSame(there, here)
      ? []
      : [
          {
            ...about(one, line),
            kind: 'other_identifier',
            there,
            here,
            words: other
              ? `Line ${line} names two: ${one.hostname}, and by its ${name} ${other.hostname}. One is not billed.`
              : `The ${name} of ${one.hostname} is ${there} in the list and ${here ?? 'not set'} here.`,
          },
        ],
  )
}

function differencesOf(listed: ListedService, one: Here, line: number, known: Known): Difference[] {
  const compared = [
    ['other_state', listed.state, stateOf(one), 'state'],
    ['other_product', listed.billingProductId, one.billingProductId, 'product'],
    ['other_owner', listed.ownerExternalId, one.ownerExternalId, 'owner'],
  ] as const
  return [
    ...otherIdentifiers(listed, one, line, known),
    ...compared.flatMap(([kind, there, here, what]): Difference[] =>
      there === undefined || there === null || isSame(there, here)
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
    ),
  ]
}
