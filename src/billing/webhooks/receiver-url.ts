// The addresses that webhooks may be sent to. What a name resolves to is checked again at each attempt.

import { isIP } from 'node:net'
import { hostOf } from '../../../agent/protocol/net/pinned-request.ts'
import { managementAddresses } from '../../fleet/node-records/queries.ts'
import { platformAddresses } from '../../fleet/nodes/addresses/platform.ts'
import { invalid } from '../../kernel/api/errors.ts'
import type { Db } from '../../kernel/db/open.ts'
import { disabledReason, type Policy, publicOnly } from '../../kernel/net/egress.ts'
import { urlFrom } from '../../kernel/net/typed-url.ts'
import type { AppConfig } from '../../kernel/register.ts'
import { PLATFORM } from './model.ts'

/** Names that exist in the networks of this installation at most. */
const INTERNAL = /(^|\.)(localhost|local|localdomain|internal|intranet|lan|home|corp|private|home\.arpa)$/
const LOWEST_PORT = 1024
const HTTPS_PORT = 443

/**
 * Customers and resellers reach public addresses only; staff also those that PANEL_WEBHOOK_ALLOW_PRIVATE lists. Nobody
 * reaches a node where it listens for the controller and its neighbours.
 */
export const policyFor = (tx: Db, owner: string, config: AppConfig): Policy =>
  owner === PLATFORM
    ? { ...publicOnly, allowed: config.webhookAllowPrivate, refused: managementAddresses(tx) }
    : { ...publicOnly, refused: platformAddresses(tx, config) }

function problem(tx: Db, url: URL, owner: string, config: AppConfig): string | undefined {
  const why = disabledReason(url, policyFor(tx, owner, config))
  if (why) return why
  const host = hostOf(url)
  // Behind address translation its public address is none of its own, and its name leads there.
  if (owner !== PLATFORM && host === hostOf(new URL(config.publicUrl))) return 'must not be the panel itself.'
  const port = Number(url.port || HTTPS_PORT)
  if (port !== HTTPS_PORT && port < LOWEST_PORT) return `must have the port 443, or one from ${LOWEST_PORT} on.`
  const mayBePrivate = owner === PLATFORM && config.webhookAllowPrivate.length > 0
  if (!isIP(host) && !mayBePrivate && (INTERNAL.test(host) || !host.includes('.')))
    return 'must be at a host that everybody can reach.'
  return undefined
}

const LONGEST_URL = 2000
/** The address as it is stored, without a fragment. Throws `validation_failed`. */
export function receiverUrl(tx: Db, text: string, owner: string, config: AppConfig): string {
  const url = urlFrom(text)
  if (!url) throw invalid({ field: 'url', message: 'must be an address like https://example.com/webhook.' })
  url.hash = ''
  const why = problem(tx, url, owner, config)
  if (why) throw invalid({ field: 'url', message: why })
  if (url.href.length > LONGEST_URL)
    throw invalid({ field: 'url', message: `is longer than ${LONGEST_URL} characters.` })
  return url.href
}
