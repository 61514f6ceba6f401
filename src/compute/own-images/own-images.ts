// Images that customers bring along, by address and checksum. The controller reads the beginning of the file through
// the egress guard; a node that installs it downloads it from public addresses alone and compares the checksum.

import { Type as t } from 'typebox'
import { administratorOf, hardware } from '../../catalog/images/hardware.ts'
import { inspectRemote } from '../../catalog/images/inspect.ts'
import { countOwnImages, insertImage, pageOfOwnImages, updateImage } from '../../catalog/images/queries.ts'
import { downloadPolicy } from '../../fleet/nodes/addresses/platform.ts'
import { customer } from '../../identity/account-records/model.ts'
import { changesLibrary, readsLibrary } from '../../identity/account-records/owned.ts'
import { ApiError, invalid } from '../../kernel/api/errors.ts'
import { page } from '../../kernel/api/list.ts'
import { named } from '../../kernel/api/named.ts'
import { described, done, fields, line, operation } from '../../kernel/api/operation.ts'
import { newId } from '../../kernel/db/ids.ts'
import { bodyOf } from '../../kernel/fields/field-list.ts'
import { urlFrom } from '../../kernel/net/typed-url.ts'
import { settingValue } from '../../kernel/setting.ts'
import { exactGb } from '../../kernel/words.ts'
import { IMAGES_PER_ACCOUNT, ownImage, ownImageGib, ownImageResponse, showOwnImage } from './model.ts'

export const addOwnImage = operation({
  id: 'own-images.create',
  method: 'POST',
  path: '/customers/{id}/images',
  summary: 'Add an own image by https address and checksum: a qcow2 disk that only its owner sees',
  past: 'Added an image',
  access: changesLibrary,
  on: customer,
  body: fields({
    name: line(80),
    url: described(t.String({ minLength: 1, maxLength: 2048 }), 'https, at a public address.'),
    checksum: described(
      t.String({ maxLength: 135, pattern: '^sha(256|512):[0-9a-f]+$', title: 'sha256: or sha512: and the digest' }),
      'Of the file, as its publisher gives it.',
    ),
    ...bodyOf({ os: hardware.os, networkConfig: hardware.networkConfig }),
  }),
  response: ownImageResponse,
  status: 201,
  refuses: ['limit_reached', 'name_taken', 'source_unreachable'],
  example: {
    name: 'My system',
    url: 'https://images.example.com/system.qcow2',
    checksum: 'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  },
  async prepare({ body, db, target, config, distributions, panelLookUp }) {
    const url = urlFrom(body.url)
    if (!url) throw invalid({ field: 'url', message: 'is not an address.' })
    if (body.checksum.length !== (body.checksum.startsWith('sha256:') ? 71 : 135))
      throw invalid({ field: 'checksum', message: 'is not a whole digest. Was a part lost when it was copied?' })
    mustHaveSpace(countOwnImages(db, target.id))
    const policy = await downloadPolicy(db, config, url, { lookUp: panelLookUp })
    const found = await inspectRemote(distributions, body.url, 'url', policy)
    if (!found)
      throw new ApiError(
        'source_unreachable',
        'The image could not be read from its address. It has to be public, and its server has to say how long it is.',
      )
    const most = settingValue(db, ownImageGib)
    if (found.size > most * 2 ** 30)
      throw invalid({ field: 'url', message: `is larger than ${exactGb(most)}, which is the most here.` })
    return found
  },
  run(call) {
    const { tx, target, body, clock, prepared: found } = call
    mustHaveSpace(countOwnImages(tx, target.id))
    const row = {
      id: newId('img'),
      ownerId: target.id,
      ...body,
      origin: 'catalogue' as const,
      format: 'qcow2' as const,
      sizeBytes: found.size,
      minDiskGb: found.leastDiskGb,
      user: administratorOf(body.os ?? 'linux'),
      published: false,
      createdAt: clock(),
    }
    return showOwnImage(
      call,
      named('image', () => insertImage(tx, row)),
    )
  },
})

function mustHaveSpace(held: number) {
  if (held >= IMAGES_PER_ACCOUNT)
    throw new ApiError(
      'limit_reached',
      `An account has at most ${IMAGES_PER_ACCOUNT} own images. Remove one that is not used.`,
    )
}

export const listOwnImages = operation({
  id: 'own-images.list',
  method: 'GET',
  path: '/customers/{id}/images',
  summary: 'The own images of an account, newest first',
  access: readsLibrary,
  on: customer,
  pages: { usual: 20, most: 20 },
  response: page(ownImageResponse),
  run: (call) => pageOfOwnImages(call, call.target.id, (image) => showOwnImage(call, image)),
})

export const renameOwnImage = operation({
  id: 'own-images.update',
  method: 'PATCH',
  path: '/images/{id}',
  summary: 'Rename an own image',
  past: 'Renamed an image',
  access: changesLibrary,
  on: ownImage,
  body: fields({ name: line(80) }),
  response: ownImageResponse,
  refuses: ['name_taken'],
  example: { name: 'My system' },
  run: (call) =>
    showOwnImage(
      call,
      named('image', () => updateImage(call.tx, call.target, call.body)),
    ),
})

export const removeOwnImage = operation({
  id: 'own-images.remove',
  destroys: [],
  method: 'DELETE',
  path: '/images/{id}',
  summary: 'Remove an own image; servers installed with it keep running',
  past: 'Removed an image',
  access: changesLibrary,
  on: ownImage,
  response: done,
  run({ tx, target, clock }) {
    updateImage(tx, target, { removedAt: clock() })
    return {}
  },
})
