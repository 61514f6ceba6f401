// The misconduct of nodes in words, for Needs attention and the node's page.
import type { Attention } from '../../kernel/attention.ts'
import type { Misconduct, Offence } from '../../kernel/nodes/offences.ts'
import { count } from '../../kernel/words.ts'
import { MOST_CLAIMS } from '../../network/ip-pools/claims.ts'

type Words = { level: 'bad' | 'warn' } & Pick<Attention, 'what' | 'effect'>

const words: Record<Offence, (name: string, times: string) => Words> = {
  too_much: (name, times) => ({
    level: 'bad',
    what: `${name} sent more than a node may, and was disconnected ${times}.`,
    effect:
      'Its servers run on; its jobs wait while it is away. Look at its agent: if somebody else controls the host, ' +
      'remove the node.',
  }),
  nonsense: (name, times) => ({
    level: 'warn',
    what: `${name} sent what this controller does not understand, ${times}.`,
    effect: 'It was dropped. Update its agent; if that is up to date, find out what else speaks for the node.',
  }),
  not_its_workload: (name, times) => ({
    level: 'bad',
    what: `${name} reported on servers that are on other nodes, ${times}.`,
    effect:
      'The reports were dropped. Either remains of a server that is elsewhere now are on it, or somebody else ' +
      'controls the host. The audit log names a server.',
  }),
  two_agents: (name, times) => ({
    level: 'bad',
    what: `Two agents use the key of ${name}; a second connection was refused ${times}.`,
    effect: 'Its host or its data directory is a copy. Stop one of the two, or remove the node and enroll it again.',
  }),
  too_many_addresses: (name, times) => ({
    level: 'bad',
    what: `${name} named more addresses of servers that the database does not know than are held for a node, ${times}.`,
    effect:
      `${MOST_CLAIMS} are held, and the others could be given to new servers. Detach the pools from it, and find out ` +
      'who controls the host.',
  }),
  not_storable: (name, times) => ({
    level: 'warn',
    what: `Reports of ${name} could not be stored, ${times}.`,
    effect: 'What is shown about it may be out of date. The journal has the cause.',
  }),
}

/** The misconduct of the node `name`, in words for staff. */
export const described = (name: string, { offence, count: times }: Misconduct): Words =>
  words[offence](name, count(times, 'time'))
