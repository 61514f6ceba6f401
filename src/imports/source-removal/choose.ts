// The choice for each adopted node, and a look at everything that a removal would touch there.
import { Type as t } from 'typebox'
import { keyFingerprint } from '../../../agent/protocol/values/source-removal.ts'
import { nodeCommand } from '../../../agent/protocol/wire.ts'
import { idOf, nameOf } from '../../kernel/api/actor.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import {
  described,
  fields,
  namedSchema,
  nullable,
  operation,
  type PrepareContext,
  stream,
} from '../../kernel/api/operation.ts'
import { text } from '../../kernel/api/query.ts'
import { csvPages } from '../../kernel/csv.ts'
import { CommandFailed } from '../../kernel/jobs/failures.ts'
import { adoptedNodes } from '../import-records/adopted/queries.ts'
import { type ImportRecord, importAccess, importRecord } from '../import-records/model.ts'
import { noteIn } from '../import-records/queries.ts'
import { mustAllow } from '../import-records/states.ts'
import {
  adoptedNode,
  isKnown,
  type Looked,
  NEVER_TOUCHED,
  removalResponse,
  type ShownRemoval,
  scopeOf,
  showRemoval,
  UNKNOWN_PANEL,
} from './model.ts'
import { changeRemoval, removalChoices, removalOf } from './queries.ts'

export const nodeId = described(t.String({ minLength: 1, maxLength: 60 }), 'Of a node whose servers were adopted.')
const onlyNode = { nodeId: text('Only this node.') }

/** Asks each adopted node, or the one that is named, what a removal would touch there. */
async function lookAt({ db, target, query, nodes }: PrepareContext<ImportRecord>): Promise<Looked> {
  const looked = new Map<string, RemovalLook>()
  if (target.status !== 'finished') return looked
  const asked = adoptedNodes(db, target.id).filter(({ nodeId }) => !query['nodeId'] || nodeId === query['nodeId'])
  if (!isKnown(target)) return new Map(asked.map(({ nodeId }) => [nodeId, UNKNOWN_PANEL]))
  await Promise.all(
    asked.map(async ({ nodeId }) => {
      looked.set(nodeId, await look(nodeId))
    }),
  )
  return looked

  async function look(nodeId: string): Promise<RemovalLook> {
    try {
      return (
        (await nodes.read(nodeCommand(nodeId, 'source-removal.look', scopeOf(db, target, nodeId)))) ??
        'The node does not answer.'
      )
    } catch (error) {
      if (error instanceof ApiError) return error.message
      if (error instanceof CommandFailed) return wordsOf[error.failure] ?? 'The node could not look.'
      throw error
    }
  }
}
type RemovalLook = Looked extends ReadonlyMap<string, infer L> ? L : never
const wordsOf: Readonly<Record<string, string>> = {
  removal_libvirt_silent: 'libvirt on the node does not answer.',
  agent_outdated: 'The agent of the node is older than the controller. Update it first.',
  invalid_command: 'The agent of the node is older than the controller. Update it first.',
}

export const getSourceRemoval = operation({
  id: 'source-removal.get',
  method: 'GET',
  path: '/admin/migrations/{id}/source-removal',
  summary: 'What becomes of the other panel’s software on each adopted node, and all that a removal would touch there',
  access: importAccess,
  on: importRecord,
  query: onlyNode,
  response: namedSchema('SourceRemovals', {
    nodes: t.Array(removalResponse),
    neverTouched: t.String(),
    isAsked: described(t.Boolean(), 'The import is finished, so it can be chosen.'),
  }),
  prepare: lookAt,
  run({ tx, target, query, prepared }) {
    const asked = adoptedNodes(tx, target.id).filter(({ nodeId }) => !query['nodeId'] || nodeId === query['nodeId'])
    return {
      nodes: asked.map((one) => showRemoval(tx, target, one, prepared)),
      neverTouched: NEVER_TOUCHED,
      isAsked: target.status === 'finished',
    }
  },
})

type Row = {
  node: string
  kind: string
  name: string
  now: string
  becomes: string
  files: number | null
  bytes: number | null
}
const rowsOf = ({ node, preview }: ShownRemoval): Row[] => [
  ...(preview?.items ?? []).map((item) => ({ node: node.name, ...item })),
  ...(preview?.left ?? []).map(({ name, why }) => ({
    ...{ node: node.name, kind: 'left', name, now: '', becomes: `stays: ${why}`, files: null, bytes: null },
  })),
]
export const exportSourceRemoval = operation({
  id: 'source-removal.export',
  method: 'GET',
  path: '/admin/migrations/{id}/source-removal.csv',
  summary: 'Every file and service that a removal would touch on the adopted nodes, as a spreadsheet',
  access: importAccess,
  on: importRecord,
  query: onlyNode,
  produces: 'text/csv',
  response: stream,
  prepare: lookAt,
  run({ tx, target, query, prepared }) {
    const asked = adoptedNodes(tx, target.id).filter(({ nodeId }) => !query['nodeId'] || nodeId === query['nodeId'])
    return csvPages<Row>(
      {
        node: ({ node }) => node,
        kind: ({ kind }) => kind,
        name: ({ name }) => name,
        now: ({ now }) => now,
        becomes: ({ becomes }) => becomes,
        files: ({ files }) => files,
        bytes: ({ bytes }) => bytes,
      },
      asked.map((one) => rowsOf(showRemoval(tx, target, one, prepared))),
    )
  },
})

const words = { keep: 'stays', agent: 'is to be removed by the agent', manual: 'is to be removed by hand' } as const
export const chooseSourceRemoval = operation({
  id: 'source-removal.choose',
  method: 'POST',
  path: '/admin/migrations/{id}/source-removal',
  summary: 'Choose what becomes of the other panel’s software on a node; it can be changed, and nothing happens by it',
  past: 'Chose what becomes of the other panel’s software',
  access: importAccess,
  on: importRecord,
  body: fields({
    nodeId,
    choice: described(
      t.Enum([...removalChoices]),
      'agent: call run then. manual: run the commands of the preview as root.',
    ),
    controlKey: t.Optional(
      described(nullable(keyFingerprint), 'Of the control server, where several of `rootKeys` could be its own.'),
    ),
  }),
  response: removalResponse,
  refuses: ['import_not_moved', 'import_ended', 'in_use'],
  auditSnapshot: ({ tx, target }) =>
    Object.fromEntries(
      adoptedNodes(tx, target.id).map(({ nodeId }) => [nodeId, removalOf(tx, target.id, nodeId)?.choice ?? null]),
    ),
  example: { nodeId: '<node_id>', choice: 'agent' },
  run({ tx, target, body, actor, clock }) {
    mustAllow(target, 'remove-source')
    const adopted = adoptedNode(tx, target, body.nodeId)
    const state = removalOf(tx, target.id, body.nodeId)?.state
    if (state === 'removing' || state === 'restoring')
      throw new ApiError('in_use', 'The software is being removed or put back there now. Wait for its end.')
    changeRemoval(
      tx,
      { importId: target.id, nodeId: body.nodeId },
      {
        ...{ choice: body.choice, chosenBy: { id: idOf(actor), name: nameOf(actor) }, chosenAt: clock() },
        ...(body.controlKey !== undefined && { controlKey: body.controlKey }),
      },
    )
    const shown = showRemoval(tx, target, adopted)
    noteIn(tx, target.id, clock(), 'info', `The other panel’s software on ${shown.node.name} ${words[body.choice]}.`)
    return shown
  },
})
