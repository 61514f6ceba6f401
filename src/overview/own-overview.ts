// A customer's first page: what needs attention, how many servers there are, and what a new account has still to do, all from facts.
import { Type as t } from 'typebox'
import { accountById } from '../accounts/account.ts'
import type { Account } from '../accounts/tables.ts'
import { type Look, operation, time } from '../kernel/api/operation.ts'
import { day, iso, minute } from '../kernel/db/clock.ts'
import { visible } from '../servers/server.ts'
import { factorsOf } from '../sign-in/factors.ts'
import { type Attention, attention, failedServers, MOST_SHOWN, step, stuckJobs, worstFirst } from './attention.ts'

/** A token's end is told this long before. */
const TOKEN_WARNING_MS = 14 * day
/** A failure nobody acted on is history after this long. */
const FAILURE_SHOWN_MS = 7 * day
/** As for staff: a node that comes back at once is nothing to tell. */
const AWAY_MS = minute / 2

export const getOwnOverview = operation({
  id: 'overview.own',
  method: 'GET',
  path: '/overview',
  summary: 'What needs your attention, your servers by state, and what a new account has still to do',
  access: { customer: ['account:read'] },
  answer: t.Object({
    checkedAt: time,
    attention: t.Array(attention),
    checklist: t.Array(step),
    servers: t.Record(t.String(), t.Integer()),
  }),
  run(call) {
    const { tx, actor, clock } = call
    const account = accountById(tx, actor.accountId)!
    return {
      checkedAt: iso(clock()),
      attention: worstFirst([
        ...lockedAccount(account),
        ...awayServers(call),
        ...stuckJobs(tx, actor, ''),
        ...failedServers(tx, actor, ''),
        ...failedJobs(call),
        ...waitingServers(call),
        ...endingTokens(call),
      ]),
      checklist: checklist(call, account),
      servers: Object.fromEntries(
        rows<{ status: string; n: number }>(
          call,
          (seen) => `SELECT s.status, count(*) AS n FROM servers s WHERE ${seen} GROUP BY s.status`,
        ).map((s) => [s.status, s.n]),
      ),
    }
  },
})

/** `seen`: over `servers s`, those that the actor sees, own and shared ones. Its values come before `more`. */
function rows<Row>({ tx, actor }: Look, sql: (seen: string) => string, ...more: number[]): Row[] {
  const { where, values } = visible(tx, actor)
  return tx.$client.query<Row, any[]>(sql(where)).all(...values, ...more)
}

const lockedAccount = ({ lockedAt, lockReason }: Account): Attention[] =>
  lockedAt === null
    ? []
    : [
        {
          level: 'bad',
          what: 'Your account is locked.',
          effect: `Nothing new can be ordered for it; your servers go on. ${lockReason ? `Your provider says: ${lockReason}` : 'Ask your provider about it.'}`,
          since: iso(lockedAt),
          action: 'Open account',
          href: '/account',
        },
      ]

/** One row however many servers stand there: which node it is, is the provider's business. */
function awayServers(call: Look): Attention[] {
  const now = call.clock()
  const nodes = rows<{ nodeId: string; seenAt: number; n: number; id: string; hostname: string }>(
    call,
    (seen) =>
      `SELECT s.node_id AS nodeId, n.seen_at AS seenAt, count(*) AS n, min(s.id) AS id, s.hostname
       FROM servers s JOIN nodes n ON n.id = s.node_id WHERE ${seen} GROUP BY s.node_id`,
  )
  return nodes
    .filter((n) => !call.nodes.connected(n.nodeId) && now - n.seenAt > AWAY_MS)
    .map(({ n, id, hostname, seenAt }) => ({
      level: 'bad',
      what:
        n === 1 ? `${hostname} cannot be reached by the panel.` : `${n} servers cannot be reached by the panel, ${hostname} among them.`,
      effect: `${n === 1 ? 'It keeps' : 'They keep'} running but cannot be changed until the connection is back. Your provider sees this too.`,
      since: iso(seenAt),
      ...(n === 1 ? { action: 'Open server', href: `/servers/${id}` } : { action: 'Show servers', href: '/servers' }),
    }))
}

/** Where nothing was done since. A failed installation shows as a failed server; one of a server that waits again shows here. */
function failedJobs(call: Look): Attention[] {
  return rows<{ id: string; title: string; words: string | null; at: number }>(
    call,
    (seen) =>
      `SELECT j.id, j.title, j.error_message AS words, j.finished_at AS at FROM servers s JOIN jobs j ON j.id = (SELECT max(id) FROM jobs WHERE server_id = s.id)
       WHERE ${seen} AND s.status <> 'failed' AND j.state = 'failed' AND j.finished_at > ? ORDER BY j.id DESC LIMIT ${MOST_SHOWN}`,
    call.clock() - FAILURE_SHOWN_MS,
  ).map((j) => ({
    level: 'bad',
    what: `${j.title}: failed.`,
    effect: `${j.words ?? ''} What it had begun was taken back.`.trim(),
    since: iso(j.at),
    action: 'Open job',
    href: `/jobs/${j.id}`,
  }))
}

/** Waiting for somebody: its holder, or the provider. */
function waitingServers(call: Look): Attention[] {
  return rows<{ id: string; hostname: string; status: 'suspended' | 'pending_setup'; createdAt: number }>(
    call,
    (seen) =>
      `SELECT s.id, s.hostname, s.status, s.created_at AS createdAt FROM servers s
       WHERE ${seen} AND s.status IN ('suspended', 'pending_setup') ORDER BY s.id DESC LIMIT ${MOST_SHOWN}`,
  ).map(({ id, hostname, status, createdAt }) =>
    status === 'suspended'
      ? {
          level: 'bad',
          what: `${hostname} is suspended.`,
          effect: 'It is switched off and cannot be started. Ask your provider about it.',
          since: null,
          action: 'Open server',
          href: `/servers/${id}`,
        }
      : {
          level: 'warn',
          what: `${hostname} is waiting for its setup.`,
          effect: 'It runs once you have chosen what to install.',
          since: iso(createdAt),
          action: 'Set it up',
          href: `/servers/${id}#setup`,
        },
  )
}

/** Tokens are for the person alone: not for support, nor for what has one. */
function endingTokens({ tx, actor, clock }: Look): Attention[] {
  if (actor.via.type !== 'session') return []
  return tx.$client
    .query<{ name: string; expiresAt: number }, [string, number, number]>(
      `SELECT name, expires_at AS expiresAt FROM tokens WHERE account_id = ? AND revoked_at IS NULL AND expires_at > ? AND expires_at < ?
       ORDER BY expires_at LIMIT ${MOST_SHOWN}`,
    )
    .all(actor.accountId, clock(), clock() + TOKEN_WARNING_MS)
    .map(({ name, expiresAt }) => ({
      level: 'warn',
      what: `The token ${name} expires on ${iso(expiresAt).slice(0, 10)}.`,
      effect: 'What uses it is refused from then on. Make another and put it in its place.',
      since: null,
      action: 'Open tokens',
      href: '/account/api',
    }))
}

function checklist(call: Look, account: Account) {
  const there = (sql: string) => call.tx.$client.query<{ found: 1 }, [string]>(sql).get(account.id) !== null
  const [waits] = rows<{ id: string }>(
    call,
    (seen) => `SELECT s.id FROM servers s WHERE ${seen} AND s.status = 'pending_setup' ORDER BY s.id LIMIT 1`,
  )
  const [runs] = rows<{ id: string }>(
    call,
    (seen) => `SELECT s.id FROM servers s WHERE ${seen} AND s.status NOT IN ('pending_setup', 'provisioning', 'failed') LIMIT 1`,
  )
  return [
    {
      title: 'Password',
      words: 'You came by a link. With a password you sign in without one.',
      done: account.passwordHash !== null,
      href: '/account',
    },
    {
      title: 'SSH key',
      words: 'Sign in to servers without a password: add the public half of your key.',
      done: there('SELECT 1 AS found FROM ssh_keys WHERE owner_id = ? LIMIT 1'),
      href: '/account/ssh-keys',
    },
    {
      title: 'First server',
      words: waits && !runs ? 'Choose what to install on it.' : 'Your provider orders it for you; it appears here by itself.',
      done: runs !== undefined,
      href: waits ? `/servers/${waits.id}#setup` : '/servers',
    },
    {
      title: 'Second factor',
      words: 'A code or a passkey beside the password: a stolen password alone opens nothing.',
      done: factorsOf(call.tx, account.id).length > 0,
      href: '/account/security',
    },
  ]
}
