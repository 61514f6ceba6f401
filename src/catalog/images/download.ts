// Nodes fetch images that were imported into the controller from it, by the path in their job.
import { agentPaths } from '../../../agent/protocol/wire.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import type { AppContext } from '../../kernel/api/operation.ts'
import type { IncomingRequest } from '../../kernel/api/response.ts'
import type { Db } from '../../kernel/db/open.ts'
import { imagePath } from './model.ts'
import { imageById } from './queries.ts'

/** The file of an imported image. Published or not: a node asks because a job told it to. Throws `node_not_known`. */
export function imageFile(db: Db, { agents, config }: Pick<AppContext, 'agents' | 'config'>, request: IncomingRequest) {
  agents.signer(request)
  const id = new URL(request.url).pathname.slice(agentPaths.images.length + 1)
  const image = imageById(db, id)
  if (image?.origin !== 'imported') throw new ApiError('image_not_found', 'There is no such image.')
  return new Response(Bun.file(imagePath(config.dataDir, image.id, image.format)), {
    headers: { 'Content-Type': 'application/octet-stream' },
  })
}
