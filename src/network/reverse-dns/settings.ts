// The settings of the name server. Its keys are write-only.
import { Type as t } from 'typebox'
import { ApiError, invalid } from '../../kernel/api/errors.ts'
import { described, done, fields, nullable, operation, secret } from '../../kernel/api/operation.ts'
import type { Secrets } from '../../kernel/crypto/secrets.ts'
import type { Db } from '../../kernel/db/open.ts'
import { disabledReason, forOperator, isLoopback } from '../../kernel/net/egress.ts'
import { urlFrom } from '../../kernel/net/typed-url.ts'
import { noNameServer } from './model.ts'
import { dropNameServer, keepNameServer, type NameServer, NotTaken, nameServer, reverseZones } from './name-server.ts'
import { tryAgain } from './queries.ts'

const access = { staff: ['settings:write'] } as const

function show(tx: Db, secrets: Secrets) {
  const server = nameServer(tx, secrets)
  const rfc2136 = server?.kind === 'rfc2136' ? server : undefined
  return {
    kind: server?.kind ?? ('none' as const),
    url: server?.kind === 'powerdns' ? server.url : null,
    host: rfc2136?.host ?? null,
    port: rfc2136?.port ?? null,
    zones: rfc2136?.zones ?? [],
    keyName: rfc2136?.keyName ?? null,
  }
}

export const getNameServer = operation({
  id: 'reverse-dns.settings',
  method: 'GET',
  path: '/admin/settings/reverse-dns',
  summary: 'The name server for reverse DNS, without its key',
  access,
  response: t.Object({
    kind: t.Enum(['none', 'powerdns', 'rfc2136']),
    url: nullable(t.String()),
    host: nullable(t.String()),
    port: nullable(t.Integer()),
    zones: t.Array(t.String()),
    keyName: nullable(t.String()),
  }),
  run: ({ tx, secrets }) => show(tx, secrets),
})

const kept = (server: NameServer | undefined, isSame: boolean, given: string | undefined, field: string): string => {
  if (given !== undefined) return given
  const old = server?.kind === 'powerdns' ? server.key : server?.secret
  // A key is sent only to the server that it was entered for: else a change of the address would disclose it.
  if (!isSame || old === undefined) throw invalid({ field, message: 'is required: none is kept for this name server.' })
  return old
}

export const configurePowerDns = operation({
  id: 'reverse-dns.use-powerdns',
  method: 'PUT',
  path: '/admin/settings/reverse-dns/powerdns',
  summary: 'Keep reverse DNS in PowerDNS, by its HTTP API; without a key the one that is kept stays',
  past: 'Connected PowerDNS',
  access,
  requiresRecentAuth: true,
  body: fields({
    url: described(t.String({ maxLength: 500, pattern: '^https?://' }), 'Without /api/v1.'),
    key: t.Optional(secret(t.String({ minLength: 1, maxLength: 200, pattern: '^[\\x21-\\x7e]+$' }))),
  }),
  response: done,
  example: { url: 'https://dns.example.com:8081', key: '<key>' },
  auditSnapshot: ({ tx, secrets }) => show(tx, secrets),
  run({ tx, body, secrets, config }) {
    const url = urlFrom(body.url)
    const local = config.localServices
    const why = url
      ? disabledReason(url, { ...forOperator(local), loopback: local.length > 0 && isLoopback(url) })
      : 'is no address.'
    if (why) throw invalid({ field: 'url', message: why })
    const before = nameServer(tx, secrets)
    const key = kept(before, before?.kind === 'powerdns' && before.url === body.url, body.key, 'key')
    keepNameServer(tx, secrets, { kind: 'powerdns', url: body.url, key })
    tryAgain(tx)
    return {}
  },
})

const ZONE = '^([A-Za-z0-9_-]{1,63}\\.)+(in-addr|ip6)\\.arpa\\.?$'
export const configureRfc2136 = operation({
  id: 'reverse-dns.use-rfc2136',
  method: 'PUT',
  path: '/admin/settings/reverse-dns/rfc2136',
  summary:
    'Keep reverse DNS in a name server that takes dynamic updates (RFC 2136) signed with HMAC-SHA256; without a ' +
    'secret the one that is kept stays',
  past: 'Connected a name server',
  access,
  requiresRecentAuth: true,
  body: fields({
    host: t.String({
      maxLength: 253,
      pattern: '^[A-Za-z0-9]([A-Za-z0-9.:-]{0,251}[A-Za-z0-9])?$',
      title: 'a host name or address',
    }),
    port: t.Optional(t.Integer({ minimum: 1, maximum: 65_535 })),
    zones: t.Array(t.String({ maxLength: 253, pattern: ZONE, title: 'a zone like 113.0.203.in-addr.arpa' }), {
      minItems: 1,
      maxItems: 500,
    }),
    keyName: t.String({ maxLength: 253, pattern: '^[A-Za-z0-9_.-]+$', title: 'the name of a key' }),
    secret: t.Optional(
      secret(t.String({ maxLength: 500, pattern: '^[A-Za-z0-9+/]{16,}={0,2}$', title: 'a secret in base64' })),
    ),
  }),
  response: done,
  example: {
    host: 'ns1.example.com',
    port: 53,
    zones: ['113.0.203.in-addr.arpa'],
    keyName: 'berth',
    secret: 'ZXhhbXBsZS1zZWNyZXQtb2YtYS1rZXk=',
  },
  auditSnapshot: ({ tx, secrets }) => show(tx, secrets),
  run({ tx, body: { host, port = 53, zones, keyName, secret: given }, secrets }) {
    const before = nameServer(tx, secrets)
    const isSame =
      before?.kind === 'rfc2136' && before.host === host && before.port === port && before.keyName === keyName
    const key = kept(before, isSame, given, 'secret')
    keepNameServer(tx, secrets, { kind: 'rfc2136', host, port, zones, keyName, secret: key })
    tryAgain(tx)
    return {}
  },
})

export const dropNameServerSetting = operation({
  id: 'reverse-dns.use-none',
  destroys: [],
  method: 'DELETE',
  path: '/admin/settings/reverse-dns',
  summary: 'Stop managing reverse DNS; the records that the name server has stay there',
  access,
  requiresRecentAuth: true,
  response: done,
  auditSnapshot: ({ tx, secrets }) => show(tx, secrets),
  run({ tx }) {
    dropNameServer(tx)
    return {}
  },
})

export const testNameServer = operation({
  id: 'reverse-dns.test',
  method: 'POST',
  path: '/admin/settings/reverse-dns/test',
  summary: 'Ask the name server now which zones it lets Berth change; nothing is changed',
  past: 'Tested the name server',
  access,
  response: t.Object({ zones: t.Array(t.String()) }),
  refuses: ['no_name_server', 'name_server_refused'],
  async prepare({ db, secrets, config, wallClock }) {
    const server = nameServer(db, secrets)
    if (!server) throw noNameServer()
    return reverseZones(server, { config, wallClock }).catch((error) => {
      throw error instanceof NotTaken ? new ApiError('name_server_refused', error.message) : error
    })
  },
  run: ({ prepared }) => ({ zones: prepared }),
})
