// The steps that an account of each kind does once. Facts tick a step; an actor sees a step only if it may call its operation.

import { addCatalogueImage } from '../../catalog/images/images.ts'
import { isAnyImagePublished } from '../../catalog/images/queries.ts'
import { createPackage } from '../../catalog/packages/packages.ts'
import { isAnyPackageOnSale } from '../../catalog/packages/queries.ts'
import { createServer } from '../../compute/servers/create.ts'
import { listServers } from '../../compute/servers/list.ts'
import { serverKind } from '../../compute/servers/model.ts'
import { visible } from '../../compute/workloads/access.ts'
import { everyWorkload, firstToSetUp, isAnySetUp } from '../../compute/workloads/reports.ts'
import { createLocation } from '../../fleet/locations/locations.ts'
import { isAnyLocation } from '../../fleet/locations/queries.ts'
import { enrollNode } from '../../fleet/nodes/enroll.ts'
import { isAnyNodeLive } from '../../fleet/nodes/queries.ts'
import { accountById } from '../../identity/accounts/model.ts'
import { changePassword } from '../../identity/accounts/own-account.ts'
import { hasCustomers } from '../../identity/accounts/queries.ts'
import { factorsOf } from '../../identity/auth/second-factors/factors.ts'
import { beginTotp } from '../../identity/auth/second-factors/totp.ts'
import { createResellerCustomer } from '../../identity/resellers/own.ts'
import { hasSshKeys } from '../../identity/ssh-keys/queries.ts'
import { addSshKey } from '../../identity/ssh-keys/ssh-keys.ts'
import type { AccountKind } from '../../kernel/api/access.ts'
import { mayCall, type Operation, type ReadContext } from '../../kernel/api/operation.ts'
import { hour } from '../../kernel/db/clock.ts'
import { mailDelivery } from '../../kernel/mail/mail.ts'
import { hasDelivered } from '../../kernel/queue/queries.ts'
import { createPool } from '../../network/ip-pools/pools.ts'
import { isAnyAddressFree } from '../../network/ip-pools/queries.ts'
import { resellerBranding } from '../settings/branding.ts'
import { configureMail } from '../settings/mail.ts'
import { hasBranding } from '../settings/queries.ts'
import type { Step } from './attention.ts'

/** `by` is the operation that does it: an actor who may not call it does not see the step. */
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
    done: ({ tx }) => isAnyLocation(tx),
    href: '/admin/node-groups',
  },
  {
    by: enrollNode,
    title: 'First node',
    words: 'A machine that runs servers.',
    done: ({ tx, clock }) => isAnyNodeLive(tx, clock() - hour),
    href: '/admin/nodes/enroll',
  },
  {
    by: createPool,
    title: 'Address pool',
    words: 'At least one free address on a node.',
    done: ({ tx }) => isAnyAddressFree(tx),
    href: '/admin/ip-pools',
  },
  {
    by: addCatalogueImage,
    title: 'Image',
    words: 'A published operating system.',
    done: ({ tx }) => isAnyImagePublished(tx),
    href: '/admin/images',
  },
  {
    by: createPackage,
    title: 'Package',
    words: 'What a server has and how much of it.',
    done: ({ tx }) => isAnyPackageOnSale(tx),
    href: '/admin/packages',
  },
  {
    by: createServer,
    title: 'First server',
    words: 'Order one for a customer and sign in to it.',
    done: ({ tx }) => isAnySetUp(tx, serverKind, everyWorkload),
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

const todo: Record<AccountKind, readonly Todo[]> = {
  staff: [...installation, secondFactor('Your own account is not open to whoever learns its password.')],
  reseller: [
    password,
    {
      by: resellerBranding.change,
      title: 'Branding',
      words: 'Your name, logo and colour, and whom your mails come from.',
      done: ({ tx, actor }) => hasBranding(tx, actor.accountId),
      href: '/reseller/branding',
    },
    {
      by: createResellerCustomer,
      title: 'First customer',
      words: 'Add one here, or let your billing system do it with a token.',
      done: ({ tx, actor }) => hasCustomers(tx, actor.accountId),
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
      done: ({ tx, actor }) => hasSshKeys(tx, actor.accountId),
      href: '/account/ssh-keys',
    },
    {
      by: listServers,
      title: 'First server',
      words:
        'Your provider orders it for you and it appears here by itself; what is installed on it may be left to you.',
      done: ({ tx, actor }) => isAnySetUp(tx, serverKind, visible(tx, actor)),
      href: ({ tx, actor }) => {
        const waiting = firstToSetUp(tx, serverKind, visible(tx, actor))
        return waiting ? `/servers/${waiting}#setup` : '/servers'
      },
    },
    ownFactor,
  ],
}
