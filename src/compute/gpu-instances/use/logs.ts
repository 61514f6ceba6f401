// The output of an instance: read from its host when somebody asks, and kept nowhere here.
import { Type as t } from 'typebox'
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

type Read = { state: 'read' | 'none' | 'unreachable'; text: string; truncated: boolean }

/** The last lines that the instance wrote, as its host has them. */
async function readLog({ target, nodes }: PrepareContext<GpuInstance>, lines: number): Promise<Read> {
  const nothing = { text: '', truncated: false }
  if (target.status === 'creating') return { state: 'none', ...nothing }
  try {
    const found = await nodes.read(nodeCommand(target.nodeId, 'container.logs', { workload: target.id, lines }))
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

const linesParameter = (usual: number) =>
  wholeNumber(`How many of the last lines: ${usual} when nothing is said.`, 1, { maximum: MOST_LINES })

export const getInstanceLogs = operation({
  id: 'gpu-instances.logs',
  method: 'GET',
  path: '/gpu-instances/{id}/logs',
  summary: 'The last lines that the program of a GPU instance wrote, read from its host now',
  access: everybody('servers:read'),
  on: gpuInstance,
  query: { lines: linesParameter(USUAL_LINES) },
  response: namedSchema('InstanceLogs', {
    instanceId: t.String(),
    state: described(
      t.Enum(['read', 'none', 'unreachable']),
      'none: it has no container now. unreachable: its host does not answer.',
    ),
    lines: described(t.Array(t.String()), 'The oldest first, as a screen shows them; logs.txt has them as they are.'),
    truncated: described(t.Boolean(), 'Earlier lines were left out because there were too many.'),
  }),
  prepare: (call) => readLog(call, Number(call.query['lines'] ?? USUAL_LINES)),
  run: ({ target, prepared: { state, text, truncated } }) => ({
    instanceId: target.id,
    state,
    lines: text ? text.replace(/\n$/, '').split('\n').map(readable) : [],
    truncated,
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
  prepare: (call) => readLog(call, Number(call.query['lines'] ?? MOST_LINES)),
  *run({ prepared }) {
    yield prepared.text
  },
})
