import { renameSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { Type as t } from 'typebox'
import { LINE_PATTERN } from '../../../agent/protocol/text.ts'
import { agentPaths } from '../../../agent/protocol/wire.ts'
import { page } from '../../kernel/api/list.ts'
import { named } from '../../kernel/api/named.ts'
import { described, done, fields, line, namedSchema, operation, time } from '../../kernel/api/operation.ts'
import { iso } from '../../kernel/db/clock.ts'
import { newId } from '../../kernel/db/ids.ts'
import type { Tx } from '../../kernel/db/open.ts'
import { bodyOf, changesOf } from '../../kernel/fields/field-list.ts'
import { type UseContext, useOfBuild } from '../in-use.ts'
import { catalogue, entryOf } from './distributions/catalogue.ts'
import { administratorOf, hardware, mustExist, mustRescue } from './hardware.ts'
import { inspect, leastDiskOf, mustHoldImage, nameOnDisk } from './inspect.ts'
import { image, imagePath, imageResponse, showImage, showVerification, verification } from './model.ts'
import { inspected, publishedFile } from './published.ts'
import {
  buildsOf,
  catalogueIdsInUse,
  insertImage,
  newestSignature,
  pageOfImages,
  pageOfOfferedImages,
  signedAs,
  updateImage,
} from './queries.ts'

const insert = (call: UseContext & { tx: Tx }, row: Parameters<typeof insertImage>[1]) =>
  showImage(
    call,
    named('image', () => insertImage(call.tx, row)),
  )

/**
 * Files wait here to be imported; named in the API, never as a path, so that no call can make the controller read
 * another file.
 */
export const incomingDir = (dataDir: string) => `${dataDir}/incoming`

export const importImage = operation({
  id: 'images.import',
  method: 'POST',
  path: '/admin/images/import',
  summary: 'Import a disk image from the incoming directory of the controller',
  past: 'Imported an image',
  access: { staff: ['images:write'] },
  powers: ['runs_code'],
  body: fields({
    file: t.String({
      maxLength: 255,
      pattern: `^(?![.-])(?!.*[/\\\\])(?=.)${LINE_PATTERN.slice(1)}`,
      title: 'the name of a file in the incoming directory',
    }),
    name: line(80),
    format: t.Optional(t.Enum(['qcow2', 'raw'])),
    minDiskGb: t.Optional(t.Integer({ minimum: 1, maximum: 65_536 })),
    published: t.Optional(t.Boolean()),
    ...bodyOf(hardware),
  }),
  response: imageResponse,
  status: 201,
  refuses: ['name_taken'],
  example: { file: 'debian-13.qcow2', name: 'Debian 13', format: 'qcow2', minDiskGb: 3, published: true },
  async prepare({ body, config }) {
    mustExist({ machine: body.machine ?? 'q35', firmware: body.firmware ?? 'bios' })
    await mkdir(`${config.dataDir}/images`, { recursive: true })
    const path = `${incomingDir(config.dataDir)}/${await nameOnDisk(incomingDir(config.dataDir), body.file)}`
    const found = await inspect(path, body.format ?? 'qcow2')
    if (body.minDiskGb !== undefined) mustHoldImage(body.minDiskGb, found)
    return { ...found, path }
  },
  run(call) {
    const {
      body,
      prepared: { size, checksum, leastDiskGb, path },
      clock,
      config,
    } = call
    const id = newId('img')
    const made = insert(call, {
      id,
      name: body.name,
      origin: 'imported',
      url: `${agentPaths.images}/${id}`,
      format: body.format ?? 'qcow2',
      checksum,
      sizeBytes: size,
      minDiskGb: body.minDiskGb ?? leastDiskGb,
      user: administratorOf(body.os ?? 'linux'),
      published: body.published ?? true,
      machine: body.machine,
      firmware: body.firmware,
      tpm: body.tpm,
      os: body.os,
      networkConfig: body.networkConfig,
      createdAt: clock(),
    })
    // Last, when nothing is refused any more. A crash before the commit leaves a file that nothing names, never a row
    // without its file.
    renameSync(path, imagePath(config.dataDir, id, body.format ?? 'qcow2'))
    return made
  },
})

export const addCatalogueImage = operation({
  id: 'images.add',
  method: 'POST',
  path: '/admin/images',
  summary:
    'Add an official image from the catalogue; its checksum is read from the list of its distribution, ' +
    'and the signature of the list is verified where the distribution signs it',
  past: 'Added an image',
  access: { staff: ['images:write'] },
  powers: ['runs_code'],
  body: fields({ catalogueId: t.Enum(catalogue.map((c) => c.id)), published: t.Optional(t.Boolean()) }),
  response: imageResponse,
  status: 201,
  refuses: ['name_taken', 'source_unreachable', 'signature_refused'],
  example: { catalogueId: 'debian-13', published: true },
  async prepare({ body, db, distributions }) {
    const entry = entryOf(body.catalogueId)!
    const file = await publishedFile(distributions, entry, newestSignature(db, entry.id))
    return { entry, build: await inspected(distributions, entry, file) }
  },
  run(call) {
    const {
      body,
      prepared: {
        entry,
        build: { leastDiskGb, signature, ...build },
      },
      clock,
    } = call
    return insert(call, {
      id: newId('img'),
      name: entry.name,
      origin: 'catalogue',
      catalogueId: entry.id,
      ...build,
      ...signedAs(signature),
      format: 'qcow2',
      minDiskGb: Math.max(entry.minDiskGb, leastDiskGb),
      user: 'root',
      published: body.published ?? true,
      networkConfig: entry.networkConfig,
      createdAt: clock(),
      checkedAt: clock(),
    })
  },
})

export const changeImage = operation({
  id: 'images.update',
  method: 'PATCH',
  path: '/admin/images/{id}',
  summary:
    'Rename an image, publish it or not, make it the default of orders or the rescue image, change its minimum disk ' +
    'or the machine that it needs; servers keep the one on which they were installed',
  past: 'Changed an image',
  access: { staff: ['images:write'] },
  powers: ['runs_code'],
  on: image,
  body: fields({
    name: t.Optional(line(80)),
    published: t.Optional(t.Boolean()),
    isDefault: t.Optional(t.Boolean()),
    isRescue: t.Optional(t.Boolean()),
    ...changesOf(hardware),
    minDiskGb: t.Optional(t.Integer({ minimum: 1, maximum: 65_536 })),
  }),
  response: imageResponse,
  refuses: ['name_taken'],
  example: { published: true },
  async prepare({ target, body, config }) {
    mustExist({ ...target, ...body })
    mustRescue({ ...target, ...body })
    if (body.minDiskGb !== undefined && target.origin === 'imported')
      mustHoldImage(
        body.minDiskGb,
        await leastDiskOf(imagePath(config.dataDir, target.id, target.format), target.format),
      )
  },
  run(call) {
    const { tx, target, body } = call
    return showImage(
      call,
      named('image', () => updateImage(tx, target, { ...body, ...(body.os && { user: administratorOf(body.os) }) })),
    )
  },
})

export const removeImage = operation({
  id: 'images.remove',
  destroys: [],
  method: 'DELETE',
  path: '/admin/images/{id}',
  summary: 'Remove an image; servers made from it keep running',
  access: { staff: ['images:write'] },
  on: image,
  response: done,
  run({ tx, target, clock }) {
    updateImage(tx, target, { removedAt: clock(), published: false, isDefault: false, isRescue: false })
    return {}
  },
})

const offered = namedSchema('OfferedImage', {
  id: t.String(),
  name: t.String(),
  minDiskGb: t.Integer(),
  sizeBytes: t.Integer(),
  user: t.String(),
  os: hardware.os.response,
  isDefault: t.Boolean(),
  own: described(t.Boolean(), 'An image of your account, which others do not see.'),
})

export const listOfferedImages = operation({
  id: 'images.offered',
  method: 'GET',
  path: '/images',
  summary: 'The images that a server can be set up with, newest first',
  access: {
    staff: ['servers:create', 'servers:reinstall'],
    reseller: ['servers:reinstall'],
    customer: ['servers:reinstall'],
  },
  pages: { usual: 100, most: 200 },
  response: page(offered),
  run: (call) =>
    pageOfOfferedImages(
      call,
      call.actor.accountId,
      ({ id, name, minDiskGb, sizeBytes, user, os, isDefault, ownerId }) => ({
        id,
        name,
        minDiskGb,
        sizeBytes,
        user,
        os,
        isDefault,
        own: ownerId !== null,
      }),
    ),
})

export const listImages = operation({
  id: 'images.list',
  method: 'GET',
  path: '/admin/images',
  summary: 'Images, newest first, and what else the catalogue offers',
  access: { staff: ['servers:read', 'servers:create', 'images:write'] },
  pages: { usual: 100, most: 200 },
  response: t.Object({
    ...page(imageResponse).properties,
    catalogue: t.Array(t.Object({ id: t.String(), name: t.String(), added: t.Boolean() })),
  }),
  run(call) {
    const { tx } = call
    const added = catalogueIdsInUse(tx)
    const list = pageOfImages(call, (i) => showImage(call, i))
    return { ...list, catalogue: catalogue.map(({ id, name }) => ({ id, name, added: added.has(id) })) }
  },
})

export const listImageBuilds = operation({
  id: 'images.builds',
  method: 'GET',
  path: '/admin/images/{id}/builds',
  summary: 'The builds that an image has had, newest first, and how many servers run on a disk made of each',
  access: { staff: ['servers:read', 'servers:create', 'images:write'] },
  on: image,
  response: namedSchema('ImageBuilds', {
    image: imageResponse,
    builds: t.Array(
      t.Object({
        checksum: t.String(),
        url: t.String(),
        sizeBytes: t.Integer(),
        foundAt: time,
        verification,
        current: described(t.Boolean(), 'Servers are installed from this one now.'),
        servers: t.Integer(),
      }),
    ),
  }),
  run: (call) => ({
    image: showImage(call, call.target),
    builds: buildsOf(call.tx, call.target.id).map(({ checksum, url, sizeBytes, foundAt, ...signed }) => ({
      checksum,
      url,
      sizeBytes,
      foundAt: iso(foundAt),
      verification: showVerification(call.target, signed),
      current: checksum === call.target.checksum,
      servers: useOfBuild(call, call.target.id, checksum),
    })),
  }),
})
