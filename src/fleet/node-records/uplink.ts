// The troubles of the uplink of a node, in words.
import type { Uplink } from '../../../agent/protocol/wire.ts'
import { list } from '../../kernel/words.ts'

type Trouble = { level: 'bad' | 'warn'; words: string; effect: string }

/** The troubles of an uplink, the worst first; none: it is as its operator said. */
export function uplinkTroubles({ name, up, vlans, bond, problem }: Uplink): Trouble[] {
  if (problem !== undefined && !vlans.length)
    return [
      {
        ...{ level: 'bad', words: problem },
        effect:
          'It carries no VLANs: servers whose addresses are in one do not start there, and no new one gets there.',
      },
    ]
  if (!up)
    return [
      {
        ...{ level: 'bad', words: `its uplink ${name} has no link` },
        effect: 'Servers whose way out it is are not reached. Look at its cable and at the port of the switch.',
      },
    ]
  const bad = bond?.ports.filter(({ state }) => state !== 'up') ?? []
  if (!bad.length) return []
  const apart = bad.filter(({ state }) => state === 'apart').map((port) => port.name)
  const down = bad.filter(({ state }) => state === 'down').map((port) => port.name)
  const words = [
    ...(down.length ? [`${list(down)} of ${name} ${down.length === 1 ? 'has' : 'have'} no link`] : []),
    ...(apart.length ? [`the switch does not take ${list(apart)} into the aggregate of ${name}`] : []),
  ]
  return [
    {
      ...{ level: 'warn', words: list(words) },
      effect: 'Servers go on over what is left of the bond. Look at the cable and at the port of the switch.',
    },
  ]
}
