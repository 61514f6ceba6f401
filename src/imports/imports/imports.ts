import { Type as t } from 'typebox'
import { idOf, nameOf } from '../../kernel/api/actor.ts'
import { ApiError, invalid } from '../../kernel/api/errors.ts'
import { page } from '../../kernel/api/list.ts'
import { described, fields, line, namedSchema, nullable, operation } from '../../kernel/api/operation.ts'
import { oneOf, text, wholeNumber } from '../../kernel/api/query.ts'
import { newId } from '../../kernel/db/ids.ts'
import type { Db } from '../../kernel/db/open.ts'
import { wantCleanUps } from '../clean-up/want.ts'
import { eraseInventory } from '../import-records/choices/queries.ts'
import { serverStates } from '../import-records/inventory/queries.ts'
import {
  type ImportRecord,
  importAccess,
  importRecord,
  importResponse,
  importStatuses,
  showImport,
  titleOf,
  usualBilling,
} from '../import-records/model.ts'
import { sourceKinds } from '../import-records/panels.ts'
import { changeImport, importById, insertImport, logOf, noteIn, pageOfImports } from '../import-records/queries.ts'
import { mustAllow } from '../import-records/states.ts'
import { checkedAddress, credentialsField, encrypted } from './credentials.ts'

const importName = described(nullable(line(80)), 'Shown in the list and in the audit log.')
const address = described(
  t.String({ minLength: 1, maxLength: 300 }),
  'Of the panel itself, with its port: not of a hypervisor. Private addresses are fine, link-local ones are refused.',
)
/** The state that the audit log compares: no secret, also no encrypted one. */
const auditSnapshot = ({ tx, target }: { tx: Db; target: ImportRecord }) => {
  const { name, status, address, trustedSha256 } = importById(tx, target.id)!
  return { name, status, address, trustedSha256 }
}

export const createImport = operation({
  id: 'imports.create',
  method: 'POST',
  path: '/admin/migrations',
  summary: 'Begin an import from another panel: nothing is sent there before discover',
  past: 'Added an import',
  access: importAccess,
  body: fields({
    kind: t.Enum([...sourceKinds]),
    address,
    credentials: credentialsField,
    name: t.Optional(importName),
  }),
  response: importResponse,
  status: 201,
  idempotent: true,
  example: {
    kind: 'demo',
    address: 'https://demo-40.example:443',
    credentials: { token: '<token>' },
    name: 'Frankfurt',
  },
  run(call) {
    const { tx, body, clock, actor } = call
    const panel = call.importPanels.get(body.kind)
    if (!panel) throw invalid({ field: 'kind', message: 'cannot be read by this version.' })
    const id = newId('imp')
    const at = checkedAddress(panel, body.address, body.credentials, { certificateSha256: null }, call)
    insertImport(tx, {
      id,
      kind: body.kind,
      name: body.name ?? null,
      address: at,
      status: 'draft',
      encryptedCredentials: encrypted(call, id, body.credentials),
      billing: usualBilling,
      startedBy: { id: idOf(actor), name: nameOf(actor) },
      createdAt: clock(),
    })
    noteIn(tx, id, clock(), 'info', `The import of ${panel.label} at ${at} was begun.`)
    return showImport(call, importById(tx, id)!)
  },
})

export const listImports = operation({
  id: 'imports.list',
  method: 'GET',
  path: '/admin/migrations',
  summary: 'Imports from other panels, newest first',
  access: importAccess,
  query: {
    status: oneOf(
      importStatuses.filter((status) => status !== 'cancelled'),
      'Only those in this status.',
    ),
    kind: oneOf(sourceKinds, 'Only those from this panel.'),
    q: text('Only those with this text in their name or address.'),
  },
  response: page(importResponse),
  run(call) {
    const { status, kind, q } = call.query as Parameters<typeof pageOfImports>[1]
    return pageOfImports(call, { status, kind, q }, (row) => showImport(call, row))
  },
})

export const getImport = operation({
  id: 'imports.get',
  method: 'GET',
  path: '/admin/migrations/{id}',
  summary: 'One import: how far it is, and what is left to decide',
  access: importAccess,
  on: importRecord,
  response: importResponse,
  run: (call) => showImport(call, call.target),
})

export const renameImport = operation({
  id: 'imports.update',
  method: 'PATCH',
  path: '/admin/migrations/{id}',
  summary: 'Rename an import, at any time, even after it has ended; null clears the name',
  access: importAccess,
  on: importRecord,
  body: fields({ name: t.Optional(importName) }),
  response: importResponse,
  auditSnapshot,
  example: { name: 'Frankfurt off SolusVM 2' },
  run(call) {
    const { tx, target, body } = call
    if (body.name !== undefined) changeImport(tx, target.id, { name: body.name })
    return showImport(call, importById(tx, target.id)!)
  },
})

export const trustCertificate = operation({
  id: 'imports.trust',
  method: 'POST',
  path: '/admin/migrations/{id}/actions/trust',
  summary: 'Trust the certificate that the panel showed: compare its fingerprint there first',
  past: 'Trusted the certificate of a panel',
  access: importAccess,
  on: importRecord,
  body: fields({
    sha256: described(
      t.String({ pattern: '^([0-9a-fA-F]{2}:?){31}[0-9a-fA-F]{2}$', maxLength: 95 }),
      'The fingerprint that was compared: it has to be the one that is asked for.',
    ),
  }),
  response: importResponse,
  refuses: ['certificate_not_asked', 'import_busy', 'import_ended'],
  auditSnapshot,
  example: { sha256: 'a1'.repeat(32) },
  run(call) {
    const { tx, target, body, clock } = call
    mustAllow(target, 'trust')
    const sha256 = body.sha256.replaceAll(':', '').toLowerCase()
    if (target.askedCertificate?.sha256 !== sha256)
      throw new ApiError(
        'certificate_not_asked',
        `${titleOf(target)} does not ask for this certificate. Read the fingerprint that it asks for, and compare it.`,
      )
    changeImport(tx, target.id, { trustedSha256: sha256, askedCertificate: null, trouble: null })
    noteIn(tx, target.id, clock(), 'info', `The certificate ${sha256} is trusted.`)
    return showImport(call, importById(tx, target.id)!)
  },
})

export const setCredentials = operation({
  id: 'imports.set-credentials',
  method: 'POST',
  path: '/admin/migrations/{id}/actions/set-credentials',
  summary: 'Give other credentials for the panel, such as a new token; the old ones are erased',
  past: 'Changed the credentials of an import',
  access: importAccess,
  on: importRecord,
  body: fields({ credentials: credentialsField }),
  response: importResponse,
  refuses: ['import_busy', 'import_ended'],
  auditSnapshot,
  example: { credentials: { token: '<token>' } },
  run(call) {
    const { tx, target, body, clock } = call
    mustAllow(target, 'set-credentials')
    const panel = call.importPanels.get(target.kind)!
    checkedAddress(panel, target.address, body.credentials, { certificateSha256: target.trustedSha256 }, call)
    changeImport(tx, target.id, { encryptedCredentials: encrypted(call, target.id, body.credentials), trouble: null })
    noteIn(tx, target.id, clock(), 'info', 'Other credentials were given.')
    return showImport(call, importById(tx, target.id)!)
  },
})

const ERASED_AT_ONCE = 500

export const cancelImport = operation({
  id: 'imports.cancel',
  method: 'POST',
  path: '/admin/migrations/{id}/actions/cancel',
  summary: 'Delete an import in which nothing has moved, with its credentials and all that was read',
  past: 'Deleted an import',
  access: importAccess,
  on: importRecord,
  response: importResponse,
  refuses: ['import_started', 'import_ended'],
  auditSnapshot,
  run(call) {
    const { tx, target, clock } = call
    mustAllow(target, 'cancel')
    const { moving = 0, moved = 0 } = serverStates(tx, target.id)
    if (moving + moved > 0)
      throw new ApiError('import_started', `${titleOf(target)} has moved servers. Finish it, or roll them back first.`)
    // Before it is forgotten at whose hypervisors its nodes have signed in.
    wantCleanUps(tx, target, clock())
    changeImport(tx, target.id, {
      status: 'cancelled',
      phase: null,
      progress: {},
      encryptedCredentials: null,
      askedCertificate: null,
      trouble: null,
      endedAt: clock(),
    })
    // From now on nobody sees it. A large import is erased within seconds, and its record with it.
    eraseInventory(tx, target.id, ERASED_AT_ONCE)
    return showImport(call, importById(tx, target.id)!)
  },
})

const MOST_LINES = 500
export const importLog = operation({
  id: 'imports.log',
  method: 'GET',
  path: '/admin/migrations/{id}/log',
  summary: "An import's log lines; ask again with the last number",
  access: importAccess,
  on: importRecord,
  query: { after: wholeNumber('Only lines behind this number.', 0, { default: 0, maximum: 1_000_000_000 }) },
  response: namedSchema('ImportLog', {
    lines: t.Array(
      t.Object({
        n: t.Integer(),
        at: t.String({ format: 'date-time' }),
        level: t.Enum(['info', 'warning', 'error']),
        text: t.String(),
      }),
    ),
    status: t.Enum([...importStatuses]),
  }),
  run: ({ tx, target, query }) => ({
    lines: logOf(tx, target.id, Number(query['after'] ?? 0), MOST_LINES).map((one) => ({
      ...one,
      at: new Date(one.at).toISOString(),
    })),
    status: target.status,
  }),
})

export const listPanels = operation({
  id: 'imports.panels',
  method: 'GET',
  path: '/admin/migration-panels',
  summary: 'The panels that can be imported from, with the credentials that each asks for',
  access: importAccess,
  response: namedSchema('ImportPanels', {
    panels: t.Array(
      namedSchema('ImportPanel', {
        kind: t.Enum([...sourceKinds]),
        label: t.String(),
        addressExample: t.String(),
        hint: t.String(),
        credentials: t.Array(
          t.Object({ name: t.String(), label: t.String(), hint: t.String(), maxLength: t.Integer() }),
        ),
      }),
    ),
  }),
  run: ({ importPanels }) => ({
    panels: [...importPanels.values()].map(({ kind, label, addressExample, hint, credentials }) => ({
      ...{ kind, label, addressExample, hint },
      credentials: credentials.map((one) => ({ ...one })),
    })),
  }),
})
