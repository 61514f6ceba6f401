// Questions about files of backups that wait for their node, in memory: none outlives the controller.

import type { FilesRequest } from '../../../../agent/protocol/backup.ts'
import { agentHeaders, agentPaths } from '../../../../agent/protocol/wire.ts'
import { ApiError } from '../../../kernel/api/errors.ts'
import type { AppContext } from '../../../kernel/api/operation.ts'
import { randomToken } from '../../../kernel/crypto/secrets.ts'
import type { RouteParts } from '../../../kernel/feature.ts'
import type { SocketEndpoint } from '../../../kernel/net/socket-endpoint.ts'
import { type Answer, Question, type Times, usualTimes } from './open-question.ts'

/** At once, of one account and of all: each may hold a window of bytes, and a program on its node. */
const most = { perAccount: 3, all: 40 } as const

type Waiting = { nodeId: string; accountId: string; question: Question }

export class FileQuestions {
  private open = new Map<string, Waiting>()

  constructor(private times: Times = usualTimes) {}

  /** Throws `limit_reached` as an `ApiError`, and `NoAnswer`. */
  async ask(
    nodes: Pick<AppContext['nodes'], 'openFiles'>,
    { nodeId, accountId, request }: { nodeId: string; accountId: string; request: FilesRequest },
  ): Promise<Answer> {
    const all = [...this.open.values()]
    if (all.filter((one) => one.accountId === accountId).length >= most.perAccount)
      throw new ApiError('limit_reached', `You read ${most.perAccount} files of backups already. Wait for one to end.`)
    if (all.length >= most.all)
      throw new ApiError('limit_reached', `${most.all} files of backups are being read in all. Try again in a while.`)
    const session = randomToken()
    const question = new Question(request, () => this.open.delete(session), this.times)
    this.open.set(session, { nodeId, accountId, question })
    if (!nodes.openFiles(nodeId, session)) question.fail('unreachable')
    return question.answer
  }

  /** The socket of the node for this session; undefined where none waits for this node. */
  join(nodeId: string, session: string) {
    const asked = this.open.get(session)
    return asked?.nodeId === nodeId ? asked.question.join() : undefined
  }

  /** How many are open. */
  get count(): number {
    return this.open.size
  }
}

export const fileEndpoints = ({ app }: RouteParts): SocketEndpoint[] => [
  {
    path: agentPaths.files,
    accept(request) {
      const node = app.agents.signer(request)
      request.info.by = node.id
      const handler = app.fileQuestions.join(node.id, request.headers.get(agentHeaders.files) ?? '')
      if (!handler) throw new ApiError('not_found', 'Nobody asks for these files any more.')
      return { handler }
    },
  },
]
