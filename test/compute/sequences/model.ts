// A small model of servers: the owner of each, and the calls about it that were accepted. It knows nothing of the
// product's code.

export type ModelServer = {
  id: string
  owner: string
  hostname: string
  isSetUp: boolean
  isSuspended: boolean
  isTerminated: boolean
  /** Its disk is deleted, or will be at once: it does not come back. */
  isPurged: boolean
  isProtected: boolean
}

/** The people who call, and the owners whose servers each of them sees. */
export const actors = {
  owner: { sees: ['cal', 'dan', 'clara'], isProvider: true, mayUse: true },
  support: { sees: ['cal', 'dan', 'clara'], isProvider: true, mayUse: false },
  rita: { sees: ['clara'], isProvider: true, mayUse: true },
  clara: { sees: ['clara'], isProvider: false, mayUse: true },
  cal: { sees: ['cal'], isProvider: false, mayUse: true },
  dan: { sees: ['dan'], isProvider: false, mayUse: true },
  /** In cal's team: may operate. */
  mate: { sees: ['cal'], isProvider: false, mayUse: false },
} as const satisfies Record<string, { sees: readonly string[]; isProvider: boolean; mayUse: boolean }>
export type ActorName = keyof typeof actors
export const actorNames = Object.keys(actors) as ActorName[]
export const customers = ['cal', 'dan', 'clara'] as const

export const sees = (actor: ActorName, { owner }: ModelServer): boolean =>
  (actors[actor].sees as readonly string[]).includes(owner)
/** Suspends, terminates and changes packages. */
export const mayManage = (actor: ActorName, server: ModelServer): boolean =>
  sees(actor, server) && (actor === 'owner' || actor === 'rita')

/** The answer that a call must have; `either` where a job or a node decides it. */
export type Expected = 'accepted' | 'refused' | 'either'

/** One action about one server. `apply` is done to the model when the call is accepted. */
export type ModelAction = {
  name: string
  method: string
  path(server: ModelServer, random: () => number, things: Things): string
  body?(random: () => number, things: Things): unknown
  /** For an actor who sees the server and who may do it. */
  expected(server: ModelServer): Expected
  may(actor: ActorName, server: ModelServer): boolean
  apply?(server: ModelServer): void
}
/** Ids for the bodies of calls. */
export type Things = {
  packages: readonly string[]
  image: string
  /** The addresses of a server beside its first. */
  extraAddresses(serverId: string): readonly string[]
}

const pick = <T>(random: () => number, all: readonly T[]): T => all[Math.floor(random() * all.length)]!
const post =
  (action: string) =>
  ({ id }: ModelServer) =>
    `/servers/${id}/actions/${action}`
const unlessGone = (server: ModelServer, then: Expected): Expected => (server.isTerminated ? 'refused' : then)

export const actions: readonly ModelAction[] = [
  {
    name: 'power',
    method: 'POST',
    path: post('power'),
    body: (random) => ({ action: pick(random, ['start', 'shutdown', 'off', 'restart']) }),
    expected: (s) => (s.isTerminated || s.isSuspended || !s.isSetUp ? 'refused' : 'either'),
    may: sees,
  },
  {
    name: 'suspend',
    method: 'POST',
    path: post('suspend'),
    body: () => ({ reason: 'Overdue' }),
    // At any moment, whatever job is at work and wherever its node is.
    expected: (s) => (s.isTerminated || s.isSuspended ? 'refused' : 'accepted'),
    may: mayManage,
    apply: (s) => void (s.isSuspended = true),
  },
  {
    name: 'unsuspend',
    method: 'POST',
    path: post('unsuspend'),
    expected: (s) => (s.isTerminated || !s.isSuspended ? 'refused' : 'accepted'),
    may: mayManage,
    apply: (s) => void (s.isSuspended = false),
  },
  {
    name: 'terminate',
    method: 'DELETE',
    path: ({ id }) => `/servers/${id}`,
    expected: (s) => unlessGone(s, 'accepted'),
    may: mayManage,
    apply: (s) => void (s.isTerminated = true),
  },
  {
    name: 'terminate immediately',
    method: 'DELETE',
    path: ({ id }) => `/servers/${id}?immediately=true`,
    expected: (s) => (s.isProtected ? 'refused' : s.isTerminated ? 'either' : 'accepted'),
    may: mayManage,
    apply: (s) => void (s.isTerminated = s.isPurged = true),
  },
  {
    name: 'undelete',
    method: 'POST',
    path: post('undelete'),
    // Its hostname may be another's by now, and its window over.
    expected: (s) => (!s.isTerminated || s.isPurged ? 'refused' : 'either'),
    may: mayManage,
    apply: (s) => void (s.isTerminated = false),
  },
  {
    name: 'protect',
    method: 'PUT',
    path: ({ id }) => `/servers/${id}/protection`,
    body: () => ({ protected: true }),
    expected: (s) => unlessGone(s, 'accepted'),
    may: (actor, server) => sees(actor, server) && actors[actor].mayUse,
    apply: (s) => void (s.isProtected = true),
  },
  {
    name: 'unprotect',
    method: 'PUT',
    path: ({ id }) => `/servers/${id}/protection`,
    body: () => ({ protected: false }),
    expected: (s) => unlessGone(s, 'accepted'),
    may: (actor, server) => sees(actor, server) && actors[actor].mayUse,
    apply: (s) => void (s.isProtected = false),
  },
  {
    name: 'add an address to',
    method: 'POST',
    path: ({ id }) => `/servers/${id}/ips`,
    body: () => ({ version: 4 }),
    expected: (s) => (s.isTerminated || s.isSuspended ? 'refused' : 'either'),
    may: mayManage,
  },
  {
    name: 'remove an address of',
    method: 'DELETE',
    path({ id }, random, { extraAddresses }) {
      const extra = extraAddresses(id)
      return `/servers/${id}/ips/${extra.length ? pick(random, extra) : `ip_${'0'.repeat(26)}`}`
    },
    expected: (s) => (s.isTerminated || s.isSuspended ? 'refused' : 'either'),
    may: mayManage,
  },
  {
    name: 'change the speed of',
    method: 'PATCH',
    path: ({ id }) => `/servers/${id}/speed`,
    body: (random) => ({ portInMbps: pick(random, [null, 10, 100]), cpuPercent: pick(random, [null, 50]) }),
    expected: (s) => unlessGone(s, 'either'),
    may: (actor) => actor === 'owner',
  },
  {
    name: 'reset the password of',
    method: 'POST',
    path: post('reset-password'),
    body: () => ({}),
    expected: (s) => (s.isTerminated || s.isSuspended || !s.isSetUp ? 'refused' : 'either'),
    may: (actor, server) => sees(actor, server) && actors[actor].mayUse,
  },
  {
    name: 'set up',
    method: 'POST',
    path: post('setup'),
    body: (random, { image }) => ({
      imageId: image,
      hostname: `own${Math.floor(random() * 1e6)}`,
      access: { mode: 'password' },
    }),
    // A set-up that failed leaves it waiting for another.
    expected: (s) => (s.isTerminated || s.isSuspended ? 'refused' : 'either'),
    may: (actor, server) => sees(actor, server) && actors[actor].mayUse,
    apply: (s) => void (s.isSetUp = true),
  },
  {
    name: 'reinstall',
    method: 'POST',
    path: post('reinstall'),
    body: (_, { image }) => ({ imageId: image, access: { mode: 'password' } }),
    expected: (s) => (s.isTerminated || s.isSuspended || !s.isSetUp || s.isProtected ? 'refused' : 'either'),
    may: (actor, server) => sees(actor, server) && actors[actor].mayUse,
  },
  {
    name: 'change its package',
    method: 'POST',
    path: post('change-package'),
    body: (random, { packages }) => ({ packageId: pick(random, packages) }),
    expected: (s) => (s.isTerminated || s.isSuspended || !s.isSetUp ? 'refused' : 'either'),
    may: mayManage,
  },
  {
    name: 'rename',
    method: 'PATCH',
    path: ({ id }) => `/servers/${id}/name`,
    body: (random) => ({ name: `Name ${Math.floor(random() * 100)}` }),
    expected: (s) => unlessGone(s, 'accepted'),
    may: (actor, server) => sees(actor, server) && actors[actor].mayUse,
  },
]
