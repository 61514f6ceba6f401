/** The kinds, and what the journal says of each. */
export const offences = {
  too_much: 'a node sent more than a node may, and its connection was closed',
  nonsense: 'a node sent frames that are none',
  not_its_workload: 'a node reported workloads that are on other nodes',
  two_agents: 'two agents use the key of a node, and its new connections are refused for now',
  too_many_addresses: 'a node names more addresses that are unknown here than can be held',
  not_storable: 'the reports of a node could not be stored',
} as const
export type Offence = keyof typeof offences

/** How often it happened since `since`, and when last. */
export type Misconduct = { offence: Offence; count: number; since: number; lastAt: number }
