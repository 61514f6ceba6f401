// The words to staff about nodes that are away, and about those that are back.

import { absencesOf, capacityRowsIn } from '../../fleet/node-records/queries.ts'
import { countedByKind } from '../../fleet/workloads/kind.ts'
import { type CountsByKind, kindsOn, ownersOn } from '../../fleet/workloads/queries.ts'
import type { Notice } from '../../identity/notices/notify.ts'
import type { AppContext } from '../../kernel/api/operation.ts'
import { hour, minuteText } from '../../kernel/db/clock.ts'
import type { Db } from '../../kernel/db/open.ts'
import { countJobsOn } from '../../kernel/jobs/queries.ts'
import { count, list, sentence } from '../../kernel/words.ts'
import { lasting, namesOf } from './model.ts'

/** A node that is away, or was; `since`, `endedAt` in ms. */
export type Absence = {
  outageId: string
  incidentId: string
  node: { id: string; name: string }
  location: { id: string; name: string }
  since: number
  endedAt: number | null
  endedAs: 'back' | 'lost' | 'removed' | null
}
type WordsContext = Pick<AppContext, 'registry' | 'nodes' | 'clock'> & { tx: Db }

/** So many nodes are named, each in a line, and those beyond are counted. */
const MOST_NAMED = 25
/** So many times of one hour are counted. */
const MOST_TIMES = 60

const placesOf = (of: readonly Absence[]) => list([...new Set(of.map(({ location }) => location.name))].toSorted())
const namesIn = (of: readonly Absence[], most: number) =>
  namesOf(
    of.map(({ node }) => node.name),
    most,
  )
const idsOf = (of: readonly Absence[]) => of.map(({ node }) => node.id)

/** `44 servers and 2 GPU instances of 17 customers`; the empty text where nothing is on them. */
export function affectedOn(
  { tx, registry }: Pick<WordsContext, 'tx' | 'registry'>,
  nodeIds: readonly string[],
): string {
  const sum: Record<string, number> = {}
  for (const id of nodeIds)
    for (const [kind, n] of Object.entries<number>(kindsOn(tx, id) satisfies CountsByKind))
      sum[kind] = (sum[kind] ?? 0) + n
  const counted = countedByKind(registry, sum)
  return counted && `${counted} of ${count(ownersOn(tx, nodeIds), 'customer')}`
}

/** `fra-07 does not answer`, `12 nodes in Frankfurt do not answer` */
const headline = (of: readonly Absence[]): string =>
  of.length === 1 ? `${of[0]!.node.name} does not answer` : `${of.length} nodes in ${placesOf(of)} do not answer`

function pageOf(of: readonly Absence[]): Notice['button'] {
  const [first] = of
  return of.length === 1
    ? { words: `Open ${first!.node.name}`, path: `/admin/nodes/${first!.node.id}` }
    : { words: 'Show nodes', path: '/admin/nodes' }
}

/** Says of a node that goes away again and again how often it did; else nothing. */
function again({ tx, clock }: WordsContext, of: readonly Absence[]): string[] {
  return of.flatMap(({ node }) => {
    const times = absencesOf(tx, node.id, MOST_TIMES).filter(({ since }) => since > clock() - hour).length
    return times > 1 ? [`${node.name} went away ${times} times in the last hour.`] : []
  })
}

/** The notice in the panel about nodes of one location that went away together. */
export function awayInPanel(context: WordsContext, of: readonly Absence[]): Notice {
  const affected = affectedOn(context, idsOf(of))
  return {
    subject: headline(of),
    paragraphs: [
      of.length === 1 ? `${placesOf(of)}.` : `${namesIn(of, MOST_NAMED)}.`,
      affected ? `On ${of.length === 1 ? 'it' : 'them'}: ${affected}.` : 'No server is there.',
      ...again(context, of),
    ],
    button: pageOf(of),
  }
}

/** Whether the other nodes of the location answer, which tells a failure of a node from one of the location. */
function others({ tx, nodes }: WordsContext, of: readonly Absence[]): string[] {
  const away = new Set(idsOf(of))
  return [...new Map(of.map(({ location }) => [location.id, location.name]))].flatMap(([id, name]) => {
    const rest = capacityRowsIn(tx, id).filter((node) => !away.has(node.id))
    const answering = rest.filter((node) => nodes.connected(node.id)).length
    if (!rest.length) return [`${name} has no other node.`]
    return [
      answering === rest.length
        ? `${rest.length === 1 ? 'The other node' : `The other ${rest.length} nodes`} in ${name} ` +
          `${rest.length === 1 ? 'answers' : 'answer'}.`
        : `Of the other ${count(rest.length, 'node')} in ${name} ${answering || 'none'} ` +
          `${answering === 1 || !answering ? 'answers' : 'answer'}.`,
    ]
  })
}

/** The mail about nodes that went away together, in one location or in several. */
export function awayByMail(context: WordsContext, of: readonly Absence[]): Notice {
  const affected = affectedOn(context, idsOf(of))
  const isOne = of.length === 1
  const [first] = of
  const jobs = of.reduce((sum, { node }) => sum + countJobsOn(context.tx, node.id), 0)
  const [it, its] = isOne ? ['it', 'its'] : ['them', 'their']
  return {
    subject: affected ? `${headline(of)}: ${affected}` : headline(of),
    paragraphs: [
      ...(isOne
        ? [`${first!.node.name} in ${first!.location.name} has not answered since ${minuteText(first!.since)}.`]
        : [
            `${of.length} nodes have not answered for a while:`,
            ...of
              .slice(0, MOST_NAMED)
              .map(({ node, location, since }) => `${node.name} in ${location.name}, since ${minuteText(since)}`),
            ...(of.length > MOST_NAMED ? [`and ${of.length - MOST_NAMED} more.`] : []),
          ]),
      ...again(context, of),
      affected
        ? `On ${it}: ${affected}. What ran there most likely still runs, but cannot be seen or changed until ` +
          `${isOne ? 'it answers' : 'they answer'}.`
        : `No server is on ${it}.`,
      ...others(context, of),
      ...(jobs ? [`${count(jobs, 'job waits', 'jobs wait')} for ${it}.`] : []),
      `Next: see whether the ${isOne ? 'machine' : 'machines'} and ${its} network are up, then whether the agent ` +
        'runs on it. A machine that is gone for good is declared lost on its page.',
    ],
    button: pageOf(of),
  }
}

/** `4 min`, or `4 min to 9 min` */
function awayFor(of: readonly Absence[]): string {
  const ms = of.map(({ since, endedAt }) => (endedAt ?? since) - since)
  const [shortest, longest] = [lasting(Math.min(...ms)), lasting(Math.max(...ms))]
  return shortest === longest ? shortest : `${shortest} to ${longest}`
}

/** The words of a notice from when each of its nodes is back, declared lost or removed. */
export function overInPanel(of: readonly Absence[]) {
  const ended = (as: Absence['endedAs']) => of.filter(({ endedAs }) => endedAs === as)
  const [back, lost, removed] = [ended('back'), ended('lost'), ended('removed')]
  const gone = [
    ...(lost.length ? [`${namesIn(lost, MOST_NAMED)} ${lost.length === 1 ? 'was' : 'were'} declared lost`] : []),
    ...(removed.length ? [`${namesIn(removed, MOST_NAMED)} ${removed.length === 1 ? 'was' : 'were'} removed`] : []),
  ]
  const subject =
    back.length === 1
      ? `${back[0]!.node.name} is back`
      : back.length
        ? `${back.length} nodes in ${placesOf(back)} are back`
        : gone.shift()!
  return { subject, words: [...(back.length ? [`Away for ${awayFor(back)}.`] : []), ...gone.map(sentence)].join('\n') }
}

/** The mail about nodes that are back. */
export function backByMail(of: readonly Absence[]): Notice {
  const [first] = of
  return of.length === 1
    ? {
        subject: `${first!.node.name} is back after ${awayFor(of)}`,
        paragraphs: [
          `${first!.node.name} in ${first!.location.name} answers again since ${minuteText(first!.endedAt!)}. It was ` +
            `away for ${awayFor(of)}, from ${minuteText(first!.since)} on.`,
          'What waited for it goes on by itself. Its page shows what differs from the records, if anything does.',
        ],
        button: pageOf(of),
      }
    : {
        subject: `${of.length} nodes in ${placesOf(of)} are back after ${awayFor(of)}`,
        paragraphs: [
          `${of.length} nodes answer again:`,
          ...of
            .slice(0, MOST_NAMED)
            .map((one) => `${one.node.name} in ${one.location.name}, away for ${awayFor([one])}`),
          ...(of.length > MOST_NAMED ? [`and ${of.length - MOST_NAMED} more.`] : []),
          'What waited for them goes on by itself.',
        ],
        button: pageOf(of),
      }
}
