// The output of an instance: read from its host when somebody asks, read on from a cursor, and kept nowhere here.
import { Type as t } from 'typebox'
import { LOG_CURSOR } from '../../../../agent/protocol/gpu.ts'
import { escaped } from '../../../../agent/protocol/text.ts'
import { nodeCommand } from '../../../../agent/protocol/wire.ts'
import { everybody } from '../../../kernel/api/access.ts'
import { described, namedSchema, operation, type PrepareContext, stream } from '../../../kernel/api/operation.ts'
import { wholeNumber } from '../../../kernel/api/query.ts'
import { CommandFailed } from '../../../kernel/jobs/failures.ts'
import { type GpuInstance, gpuInstance } from '../model.ts'

/** Lines of an answer where nothing is said, and at most. The host keeps the newest megabyte. */
const USUAL_LINES = 200
const MOST_LINES = 5000

type Read = { state: 'read' | 'none' | 'unreachable'; text: string; truncated: boolean; cursor?: string | undefined }
type Range = { lines: number; since?: string | undefined }

/** The last lines that the instance wrote, or wrote since a cursor, as its host has them. */
async function readLog({ target, nodes }: PrepareContext<GpuInstance>, { lines, since }: Range): Promise<Read> {
  const nothing = { text: '', truncated: false }
  if (target.status === 'creating') return { state: 'none', ...nothing }
  try {
    const input = { workload: target.id, lines, ...(since !== undefined && { since }) }
    const found = await nodes.read(nodeCommand(target.nodeId, 'container.logs', input))
    return found ? { state: 'read', ...found } : { state: 'unreachable', ...nothing }
  } catch (error) {
    // No container is there: its setting up has failed, or it is being made anew.
    if (error instanceof CommandFailed) return { state: 'none', ...nothing }
    throw error
  }
}

// Colours of a terminal, and a bar of progress, which overwrites its line again and again.
const COLOURS = /\u001b\[[0-9;]*[A-Za-z]/g
/** A line as it would stand on a screen, every other control character as its code. */
const readable = (line: string): string => {
  const last = line.replace(/\r+$/, '').split('\r').at(-1)!
  return last.replace(COLOURS, '').split('\t').map(escaped).join('\t')
}

/** A place in the log, as an answer named it. The host alone knows what it means. */
const sinceParameter = t.String({
  pattern: LOG_CURSOR,
  title: 'the cursor of an earlier answer',
  description: 'The `cursor` of an earlier answer: the lines that were written after it.',
})

const linesParameter = (usual: number) =>
  wholeNumber(`How many of the last lines: ${usual} when nothing is said.`, 1, { maximum: MOST_LINES })

export const getInstanceLogs = operation({
  id: 'gpu-instances.logs',
  method: 'GET',
  path: '/gpu-instances/{id}/logs',
  summary: 'The last lines that the program of a GPU instance wrote, read from its host now',
  access: everybody('servers:read'),
  on: gpuInstance,
  query: { lines: linesParameter(USUAL_LINES), since: sinceParameter },
  response: namedSchema('InstanceLogs', {
    instanceId: t.String(),
    state: described(
      t.Enum(['read', 'none', 'unreachable']),
      'none: it has no container now. unreachable: its host does not answer.',
    ),
    lines: described(t.Array(t.String()), 'The oldest first, as a screen shows them; logs.txt has them as they are.'),
    truncated: described(t.Boolean(), 'Earlier lines were left out because there were too many.'),
    continues: described(
      t.Boolean(),
      'The lines came after `since`. false: they are the last ones; no cursor was given, or its host knows none.',
    ),
    cursor: described(
      t.Union([t.String(), t.Null()]),
      'The end of these lines: asked again with `since`, the log goes on from here. null: its host knows no cursors.',
    ),
  }),
  prepare: (call) => readLog(call, { lines: Number(call.query['lines'] ?? USUAL_LINES), since: call.query['since'] }),
  run: ({ target, query, prepared: { state, text, truncated, cursor = null } }) => ({
    instanceId: target.id,
    state,
    lines: text ? text.replace(/\n$/, '').split('\n').map(readable) : [],
    truncated,
    continues: query['since'] !== undefined && cursor !== null,
    cursor,
  }),
})

export const downloadInstanceLogs = operation({
  id: 'gpu-instances.download-logs',
  method: 'GET',
  path: '/gpu-instances/{id}/logs.txt',
  summary: 'The last lines of a GPU instance as a text file, as its program wrote them',
  access: everybody('servers:read'),
  on: gpuInstance,
  query: { lines: linesParameter(MOST_LINES) },
  produces: 'text/plain',
  response: stream,
  prepare: (call) => readLog(call, { lines: Number(call.query['lines'] ?? MOST_LINES) }),
  *run({ prepared }) {
    yield prepared.text
  },
})
