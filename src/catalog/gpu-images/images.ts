import { Type as t } from 'typebox'
import { platformAddresses } from '../../fleet/nodes/addresses/platform.ts'
import { invalid } from '../../kernel/api/errors.ts'
import { page } from '../../kernel/api/list.ts'
import { described, fields, line, nullable, operation, secret } from '../../kernel/api/operation.ts'
import type { Secrets } from '../../kernel/crypto/secrets.ts'
import { newId } from '../../kernel/db/ids.ts'
import type { Db } from '../../kernel/db/open.ts'
import { disabledReason, publicOnly } from '../../kernel/net/egress.ts'
import type { AppConfig } from '../../kernel/register.ts'
import { goods, mayBeArchived } from '../goods-operations.ts'
import { offerShortOfPorts, type UseContext } from '../in-use.ts'
import { gpuImageIcons } from './icons.ts'
import {
  commandField,
  containerPortsOf,
  environmentField,
  type GpuImage,
  gpuImage,
  gpuImageResponse,
  SSH_PORT,
  showGpuImage,
} from './model.ts'
import { gpuImageQueries, gpuImageSorts, registryPassword } from './queries.ts'

const imageGoods = goods({
  word: 'image',
  path: '/admin/gpu-images',
  writers: ['gpu:write'],
  queries: gpuImageQueries,
  sorts: gpuImageSorts,
  response: gpuImageResponse,
  show: (call) => (image) => showGpuImage(call, image),
})

/** Names as registries know them (OCI distribution specification): no part is empty, `..` or begins with a hyphen. */
const PART = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*'
const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
const reference = t.String({
  maxLength: 512,
  pattern: `^${LABEL}(?:\\.${LABEL})*(?::[0-9]{1,5})?/${PART}(?:/${PART})*@sha256:[0-9a-f]{64}$`,
  title: 'registry/name@sha256: and 64 digits',
})

/** Throws `validation_failed` for a registry that nodes refuse: not public, or the platform itself. */
function mustBePublic(tx: Db, image: string, config: AppConfig) {
  const registry = image.slice(0, image.indexOf('/'))
  const url = URL.parse(`https://${registry}`)
  if (!url) throw invalid({ field: 'reference', message: 'must have a registry with a port up to 65535.' })
  const policy = { ...publicOnly, refused: platformAddresses(tx, config) }
  if (config.localRegistries.includes(registry) || (url.hostname.includes('.') && !disabledReason(url, policy))) return
  throw invalid({
    field: 'reference',
    message:
      'is of a registry that is not public. Name it in PANEL_LOCAL_REGISTRIES of the controller and in ' +
      'PANEL_AGENT_LOCAL_REGISTRIES of the nodes.',
  })
}

/** The login and the password go to nodes as one text. */
const username = t.String({
  minLength: 1,
  maxLength: 200,
  pattern: '^[\\x21-\\x7e]+$',
  title: 'a login without spaces',
})
const password = secret(
  t.String({ minLength: 1, maxLength: 5000, pattern: '^[\\x20-\\x7e]+$', title: 'a password in ASCII' }),
)

const docsUrl = t.String({
  maxLength: 500,
  pattern: '^https://[^\\s/"<>]+(/[^\\s"<>]*)?$',
  title: 'an address that begins with https://',
})

/** Everything but its reference, which never changes. */
const changeable = {
  name: line(60),
  mostMb: described(t.Integer({ minimum: 1, maximum: 1_048_576 }), 'More is not fetched. Compressed, in MiB.'),
  jupyter: t.Optional(described(t.Boolean(), 'It has Jupyter, which its instances are to start.')),
  command: t.Optional(described(commandField, "In place of the image's own command; null or empty: that.")),
  environment: t.Optional(described(environmentField, 'NAME=value each; an instance may set them otherwise.')),
  ports: t.Optional(
    described(
      t.Array(t.Integer({ minimum: 1, maximum: 65_535 }), { maxItems: 50 }),
      'Beside those of SSH and Jupyter.',
    ),
  ),
  description: t.Optional(described(nullable(line(300)), 'Shown to those who order.')),
  icon: t.Optional(described(nullable(t.Enum([...gpuImageIcons])), 'The picture beside its name.')),
  docsUrl: t.Optional(described(nullable(docsUrl), 'Instructions for what it runs, shown to owners.')),
  opensPort: t.Optional(
    described(nullable(t.Integer({ minimum: 1, maximum: 65_535 })), 'The port that is the way in; null: Jupyter.'),
  ),
  registryUsername: t.Optional(described(nullable(username), 'Null takes the password away too.')),
  registryPassword: t.Optional(password),
}
type Given = { ports?: number[]; registryUsername?: string | null; registryPassword?: string }

/** Throws `validation_failed` where the way in is no port that people reach. */
function mustOpenReached(image: Pick<GpuImage, 'jupyter' | 'ports' | 'opensPort'>) {
  const { opensPort } = image
  if (opensPort !== null && (opensPort === SSH_PORT || !containerPortsOf(image).includes(opensPort)))
    throw invalid({ field: 'opensPort', message: 'must be that of Jupyter, or one of its other ports.' })
}

/** Login and password are there together, or neither is. Throws `validation_failed`. */
function mustBeWhole({ ports = [], registryUsername, registryPassword }: Given, hasPassword: boolean) {
  if (ports.includes(SSH_PORT)) throw invalid({ field: 'ports', message: 'has 22, which is always the one of SSH.' })
  if (registryUsername && !registryPassword && !hasPassword)
    throw invalid({ field: 'registryPassword', message: 'is needed beside the login.' })
  if (registryPassword && !registryUsername)
    throw invalid({ field: 'registryUsername', message: 'is needed beside the password.' })
}

const encrypted = (secrets: Secrets, id: string, password: string) =>
  secrets.encrypt(registryPassword.about({ id }), password)

export const createGpuImage = operation({
  ...imageGoods.creates,
  id: 'gpu-images.create',
  summary: 'Add a container image for GPU instances; nodes fetch it at its first use',
  past: 'Added a GPU image',
  powers: ['runs_code'],
  body: fields({ ...changeable, reference }),
  example: {
    name: 'PyTorch 2.9',
    reference: `registry.example.com/ml/pytorch@sha256:${'0'.repeat(64)}`,
    mostMb: 12_288,
    jupyter: true,
    environment: ['HF_HOME=/workspace/huggingface'],
    ports: [7860],
    description: 'PyTorch with Jupyter, for training and notebooks.',
    icon: 'book',
    docsUrl: 'https://docs.example.com/pytorch',
    opensPort: 8888,
    registryUsername: 'berth',
    registryPassword: '<password>',
  },
  run(call) {
    const { tx, body, secrets, clock, config } = call
    mustBeWhole(body, false)
    mustBePublic(tx, body.reference, config)
    const { registryPassword: plain, ...given } = body
    const id = newId('gim')
    const row = {
      ...{ id, jupyter: false, environment: [], ports: [], opensPort: null, ...given, createdAt: clock() },
      command: given.command?.length ? given.command : null,
      encryptedRegistryPassword: plain === undefined ? null : encrypted(secrets, id, plain),
    }
    mustOpenReached(row)
    return showGpuImage(call, imageGoods.insert(tx, row))
  },
})

/** The state that the audit log compares: no password, also no encrypted one. */
const snapshot = ({ target: { encryptedRegistryPassword: _, ...shown } }: { tx: Db; target: GpuImage }) => shown

export const changeGpuImage = operation({
  ...imageGoods.changes,
  id: 'gpu-images.update',
  summary: 'Change an image of GPU instances, or archive it; instances take it over when they are made anew',
  past: 'Changed a GPU image',
  powers: ['runs_code'],
  on: gpuImage,
  body: fields({
    ...(Object.fromEntries(Object.entries(changeable).map(([name, schema]) => [name, t.Optional(schema)])) as {
      [K in keyof typeof changeable]: ReturnType<typeof t.Optional<(typeof changeable)[K]>>
    }),
    ...mayBeArchived,
  }),
  example: { mostMb: 16_384 },
  auditSnapshot: snapshot,
  run(call) {
    const { tx, target, body, secrets } = call
    const { registryPassword: plain, ...given } = body as Partial<GpuImage> & { registryPassword?: string }
    const registryUsername = given.registryUsername === undefined ? target.registryUsername : given.registryUsername
    // A password is for the login that it was entered with.
    const isSameLogin = registryUsername === target.registryUsername
    mustBeWhole(
      { ...given, registryUsername, ...(plain !== undefined && { registryPassword: plain }) },
      isSameLogin && target.encryptedRegistryPassword !== null,
    )
    mustOpenReached({ ...target, ...given })
    mustFitOffers(call, { ...target, ...given })
    const login =
      registryUsername === null ? null : plain === undefined ? undefined : encrypted(secrets, target.id, plain)
    const change = {
      ...given,
      ...(given.command?.length === 0 && { command: null }),
      ...(login !== undefined && { encryptedRegistryPassword: login }),
    }
    return showGpuImage(call, imageGoods.update(tx, target, change))
  },
})

/** Throws `validation_failed` where an offer with the image has fewer ports than it. */
function mustFitOffers(call: UseContext, image: GpuImage) {
  const short = offerShortOfPorts(call, image.id, containerPortsOf(image).length)
  if (short)
    throw invalid({ field: 'ports', message: `are more than the offer ${short.name} has: ${short.ports} with SSH's.` })
}

export const listGpuImages = operation({
  ...imageGoods.lists,
  id: 'gpu-images.list',
  summary: 'The images that GPU instances run, by name, without passwords',
  access: { staff: ['servers:read', 'servers:create', 'gpu:write'] },
  response: page(gpuImageResponse),
  run: imageGoods.list,
})
