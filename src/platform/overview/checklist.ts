// What is still to be done once, for each kind of account. A step ticks itself by a fact, and stands only for who may do it.

import { addCatalogueImage } from '../../catalog/images/images.ts'
import { createPackage } from '../../catalog/packages/packages.ts'
import { createServer } from '../../compute/servers/create.ts'
import { listServers } from '../../compute/servers/list.ts'
import { visible } from '../../compute/servers/server.ts'
import { createLocation } from '../../fleet/locations/locations.ts'
import { enrollNode } from '../../fleet/nodes/enroll.ts'
import { accountById } from '../../identity/accounts/model.ts'
import { changePassword } from '../../identity/accounts/own-account.ts'
import { factorsOf } from '../../identity/auth/second-factors/factors.ts'
import { beginTotp } from '../../identity/auth/second-factors/totp.ts'
import { createResellerCustomer } from '../../identity/resellers/own.ts'
import { addSshKey } from '../../identity/ssh-keys/ssh-keys.ts'
import type { AccountKind } from '../../kernel/api/access.ts'
import { mayCall, type Operation, type ReadContext } from '../../kernel/api/operation.ts'
import { hour } from '../../kernel/db/clock.ts'
import { mailDelivery } from '../../kernel/mail/mail.ts'
import { hasDelivered } from '../../kernel/queue/queries.ts'
import { createPool } from '../../network/ip-pools/pools.ts'
import { resellerBranding } from '../settings/branding.ts'
import { configureMail } from '../settings/mail.ts'
import type { Step } from './attention.ts'

/** `by` is the operation that does it: a step is nothing to whom it is refused. */
type Todo = {
  by: Operation
  title: string
  words: string
  done(call: ReadContext): boolean
  href: string | ((call: ReadContext) => string)
}

export const checklistFor = (call: ReadContext): Step[] =>
  todo[call.actor.kind]
    .filter(({ by }) => mayCall(by, call.actor))
    .map(({ title, words, done, href }) => ({
      title,
      words,
      done: done(call),
      href: typeof href === 'string' ? href : href(call),
    }))

const there = ({ tx }: ReadContext, sql: string, ...values: (string | number)[]) =>
  tx.$client.query<{ found: 0 | 1 }, (string | number)[]>(`SELECT EXISTS (${sql}) AS found`).get(...values)!.found === 1

const installation: readonly Todo[] = [
  {
    by: configureMail,
    title: 'Public address',
    words: 'Browsers and nodes reach Berth over HTTPS.',
    done: ({ config }) => config.publicUrl.startsWith('https:'),
    href: '/admin#https',
  },
  {
    by: createLocation,
    title: 'First location',
    words: 'A group of nodes that customers see as one place.',
    done: (call) => there(call, 'SELECT 1 FROM locations'),
    href: '/admin/node-groups',
  },
  {
    by: enrollNode,
    title: 'First node',
    words: 'A machine that runs servers.',
    done: (call) =>
      there(
        call,
        'SELECT 1 FROM nodes WHERE removed_at IS NULL AND (connected_at IS NOT NULL OR seen_at > ?)',
        call.clock() - hour,
      ),
    href: '/admin/nodes/enroll',
  },
  {
    by: createPool,
    title: 'Address pool',
    words: 'At least one free address on a node.',
    done: (call) =>
      there(
        call,
        'SELECT 1 FROM pool_nodes pn JOIN addresses a ON a.pool_id = pn.pool_id WHERE a.server_id IS NULL AND a.reserved_for IS NULL',
      ),
    href: '/admin/ip-pools',
  },
  {
    by: addCatalogueImage,
    title: 'Image',
    words: 'A published operating system.',
    done: (call) => there(call, 'SELECT 1 FROM images WHERE published = 1 AND removed_at IS NULL'),
    href: '/admin/images',
  },
  {
    by: createPackage,
    title: 'Package',
    words: 'What a server has and how much of it.',
    done: (call) => there(call, 'SELECT 1 FROM packages WHERE archived = 0'),
    href: '/admin/packages',
  },
  {
    by: createServer,
    title: 'First server',
    words: 'Order one for a customer and sign in to it.',
    done: (call) =>
      there(call, "SELECT 1 FROM servers WHERE status NOT IN ('pending_setup', 'provisioning', 'failed')"),
    href: '/admin/servers/new',
  },
  {
    by: configureMail,
    title: 'Mail',
    words: 'Invitations and links to new passwords reach people.',
    done: ({ tx }) => hasDelivered(tx, mailDelivery.kind),
    href: '/admin/settings',
  },
]

const secondFactor = (words: string): Todo => ({
  by: beginTotp,
  title: 'Second factor',
  words,
  done: ({ tx, actor }) => factorsOf(tx, actor.accountId).length > 0,
  href: '/account/security',
})
const ownFactor = secondFactor('A code or a passkey beside the password: a stolen password alone opens nothing.')

const password: Todo = {
  by: changePassword,
  title: 'Password',
  words: 'You came by a link. With a password you sign in without one.',
  done: ({ tx, actor }) => accountById(tx, actor.accountId)?.passwordHash != null,
  href: '/account',
}

/** Those that the actor sees: their first one of which `more` is true. */
const serverWhere = ({ tx, actor }: ReadContext, more: string) => {
  const { where, values } = visible(tx, actor)
  return tx.$client
    .query<{ id: string }, string[]>(`SELECT s.id FROM servers s WHERE ${where} AND ${more} ORDER BY s.id LIMIT 1`)
    .get(...values)?.id
}

const todo: Record<AccountKind, readonly Todo[]> = {
  staff: [...installation, secondFactor('Your own account is not open to whoever learns its password.')],
  reseller: [
    password,
    {
      by: resellerBranding.change,
      title: 'Branding',
      words: 'Your name, logo and colour, and whom your mails come from.',
      done: (call) => there(call, 'SELECT 1 FROM branding WHERE account_id = ?', call.actor.accountId),
      href: '/reseller/branding',
    },
    {
      by: createResellerCustomer,
      title: 'First customer',
      words: 'Add one here, or let your billing system do it with a token.',
      done: (call) => there(call, 'SELECT 1 FROM accounts WHERE reseller_id = ?', call.actor.accountId),
      href: '/reseller/customers',
    },
    ownFactor,
  ],
  customer: [
    password,
    {
      by: addSshKey,
      title: 'SSH key',
      words: 'Sign in to servers without a password: add the public half of your key.',
      done: (call) => there(call, 'SELECT 1 FROM ssh_keys WHERE owner_id = ?', call.actor.accountId),
      href: '/account/ssh-keys',
    },
    {
      by: listServers,
      title: 'First server',
      words:
        'Your provider orders it for you and it appears here by itself; what is installed on it may be left to you.',
      done: (call) => serverWhere(call, "s.status NOT IN ('pending_setup', 'provisioning', 'failed')") !== undefined,
      href: (call) => {
        const waits = serverWhere(call, "s.status = 'pending_setup'")
        return waits ? `/servers/${waits}#setup` : '/servers'
      },
    },
    ownFactor,
  ],
}
