import { ApiError } from '../../kernel/api/errors.ts'
import { operation } from '../../kernel/api/operation.ts'
import { image, imageResponse, showImage } from './model.ts'
import { currentBuild, take } from './renew.ts'

export const refreshImage = operation({
  id: 'images.refresh',
  method: 'POST',
  path: '/admin/images/{id}/actions/refresh',
  summary:
    'Ask the distribution of an image for its current build, which Berth also does every six hours and when a node ' +
    'finds that the file has changed; the image keeps its id',
  past: 'Looked for a new build of an image',
  access: { staff: ['images:write'] },
  on: image,
  response: imageResponse,
  refuses: ['source_unreachable', 'signature_refused', 'not_from_catalogue'],
  async prepare({ target, db, distributions }) {
    if (target.catalogueId === null)
      throw new ApiError('not_from_catalogue', `${target.name} was imported from a file: it has no newer build.`)
    return { current: await currentBuild({ db, distributions }, target) }
  },
  run(call) {
    const { tx, target, clock, prepared } = call
    return showImage(call, take(tx, target.id, prepared.current, clock()))
  },
})
