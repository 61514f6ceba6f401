import { mayCall, type ReadContext } from '../../kernel/api/operation.ts'
import { type Attention, MOST_SHOWN, type Source } from '../../kernel/attention.ts'
import { isoOrNull } from '../../kernel/db/clock.ts'
import { count } from '../../kernel/words.ts'
import { listGpus } from './hosts.ts'
import { problemsOf, stateOf } from './model.ts'
import { cardsInTrouble, gpuHostRows, type HostRow } from './queries.ts'
import type { GpuCard } from './tables.ts'

/** Hosts whose engine cannot run instances, and cards that are missing or broken, by host. */
export const gpusInTrouble: Source = (call) => {
  if (!mayCall(listGpus, call.actor)) return []
  const cards = Map.groupBy(cardsInTrouble(call.tx), ({ nodeId }) => nodeId)
  return gpuHostRows(call.tx)
    .flatMap((host) => [...engine(call, host), ...broken(host, cards.get(host.nodeId) ?? [])])
    .slice(0, MOST_SHOWN)
}

const page = ({ nodeId }: HostRow) => ({ action: 'Show GPUs', href: `/admin/nodes/${nodeId}/gpus` })

function engine({ nodes }: ReadContext, host: HostRow): Attention[] {
  // A node that is away has a row of its own.
  if (!nodes.connected(host.nodeId)) return []
  const [first, ...more] = JSON.parse(host.engineProblems) as string[]
  if (host.engine !== null && first === undefined) return []
  const others = more.length ? ` There ${more.length === 1 ? 'is' : 'are'} ${count(more.length, 'more problem')}.` : ''
  return [
    {
      ...page(host),
      level: 'bad',
      what: `${host.name} cannot run GPU instances.`,
      effect: first === undefined ? 'It reports no container engine.' : first + others,
      since: null,
    },
  ]
}

function broken(host: HostRow, cards: readonly GpuCard[]): Attention[] {
  const [first] = cards
  if (!first) return []
  const held = cards.filter(({ workloadId }) => workloadId !== null).length
  const what =
    cards.length === 1
      ? `A GPU of ${host.name} ${stateOf(first) === 'missing' ? 'is missing' : 'cannot be sold'}.`
      : `${count(cards.length, 'GPU')} of ${host.name} are missing or cannot be sold.`
  const why = stateOf(first) === 'missing' ? 'Its node does not report it any more.' : problemsOf(first)[0]
  return [
    {
      ...page(host),
      level: held ? 'bad' : 'warn',
      what,
      effect: `${first.model}: ${why}${held ? ` Instances that hold one: ${held}.` : ''}`,
      since: isoOrNull(first.missingSince ?? first.problemsSince),
    },
  ]
}
