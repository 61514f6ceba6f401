// Images of GPU instances: containers of a registry, pinned by digest, that staff put on sale.
import { type Static, Type as t } from 'typebox'
import { encryptFor } from '../../../agent/protocol/for-node.ts'
import { type ContainerImage, registryPurpose } from '../../../agent/protocol/gpu.ts'
import { described, namedSchema, nullable, type Resource } from '../../kernel/api/operation.ts'
import type { Secrets } from '../../kernel/crypto/secrets.ts'
import { type UseContext, useOfGpuImage } from '../in-use.ts'
import { gpuImageIcons } from './icons.ts'
import { gpuImageById, registryPassword } from './queries.ts'
import type { GpuImage } from './tables.ts'

export type { GpuImage }

/** Staff see every image; owners of instances see those of their offer by another way. */
export const gpuImage: Resource<GpuImage> = {
  name: 'GPU image',
  notFound: 'gpu_image_not_found',
  find: (tx, actor, id) => (actor.kind === 'staff' ? gpuImageById(tx, id) : undefined),
}

/** Scripts have line breaks and tabs; every other control character is a mistake, and a line of a log or a terminal. */
const TEXT = '[^\\x00-\\x08\\x0b-\\x1f\\x7f]'
const argument = t.String({
  minLength: 1,
  maxLength: 4096,
  pattern: `^${TEXT}*$`,
  title: 'text without control characters, but for line feeds and tabs',
})
const variable = t.String({
  maxLength: 8320,
  pattern: `^[A-Za-z_][A-Za-z0-9_]{0,127}=${TEXT}*$`,
  title: 'a variable like NAME=value, without control characters but for line feeds and tabs',
})
/** Lists of an image; an instance has the same limits. */
export const commandField = nullable(t.Array(argument, { maxItems: 64 }))
export const environmentField = t.Array(variable, { maxItems: 100 })

export const SSH_PORT = 22
export const JUPYTER_PORT = 8888
/** The ports of a container of this image that people reach, each once, SSH first. */
export const containerPortsOf = ({ jupyter, ports }: Pick<GpuImage, 'jupyter' | 'ports'>): number[] => [
  ...new Set([SSH_PORT, ...(jupyter ? [JUPYTER_PORT] : []), ...ports]),
]

/** `NAME=value` each, as nodes take them. */
export const environmentPairs = (environment: readonly string[]): { name: string; value: string }[] =>
  environment.map((line) => {
    const at = line.indexOf('=')
    return { name: line.slice(0, at), value: line.slice(at + 1) }
  })

const MIB = 1024 * 1024
/**
 * The image as this node gets it, with the login of its registry encrypted for the node. `publicKey`: the node's. For
 * commands only: no job may hold it.
 */
export const imageOnWire = (image: GpuImage, publicKey: string, secrets: Secrets): ContainerImage => ({
  id: image.id,
  reference: image.reference,
  mostBytes: image.mostMb * MIB,
  ...(image.registryUsername !== null &&
    image.encryptedRegistryPassword !== null && {
      credentials: encryptFor(
        publicKey,
        registryPurpose(image.id),
        JSON.stringify({
          username: image.registryUsername,
          password: secrets.open(registryPassword.about(image), image.encryptedRegistryPassword),
        }),
      ),
    }),
})

/** The fields of an image that those who order see. */
const templateFields = {
  id: t.String(),
  name: t.String(),
  description: nullable(t.String()),
  icon: described(nullable(t.Enum([...gpuImageIcons])), 'The picture beside its name.'),
  docsUrl: described(nullable(t.String()), 'Instructions for what it runs.'),
  jupyter: described(t.Boolean(), 'Its instances start Jupyter, with a token of their own.'),
  opensPort: described(nullable(t.Integer()), 'The port of the container that is the way in; null: only SSH.'),
}
export const gpuTemplateResponse = namedSchema('GpuTemplate', {
  ...templateFields,
  ports: described(t.Array(t.Integer()), 'Ports of the container that are reached, SSH first.'),
})

/** The port of the container that is the way in beside SSH; null: there is none. */
export const openedPort = ({ opensPort, jupyter }: Pick<GpuImage, 'opensPort' | 'jupyter'>): number | null =>
  opensPort ?? (jupyter ? JUPYTER_PORT : null)

export const showGpuTemplate = (image: GpuImage): Static<typeof gpuTemplateResponse> => ({
  id: image.id,
  name: image.name,
  description: image.description,
  icon: image.icon,
  docsUrl: image.docsUrl,
  jupyter: image.jupyter,
  opensPort: openedPort(image),
  ports: containerPortsOf(image),
})

export const gpuImageResponse = namedSchema('GpuImage', {
  ...templateFields,
  opensPort: described(nullable(t.Integer()), 'The port of the container that is the way in; null: that of Jupyter.'),
  reference: described(t.String(), 'Registry, name and digest; it never changes.'),
  mostMb: described(t.Integer(), 'The compressed layers together may have so many MiB.'),
  command: described(nullable(t.Array(t.String())), "In place of the image's own command; null: that."),
  environment: described(t.Array(t.String()), 'NAME=value each.'),
  ports: described(t.Array(t.Integer()), 'Ports of the container beside those of SSH and Jupyter.'),
  registryUsername: described(nullable(t.String()), 'Null: its registry asks for no login.'),
  archived: described(t.Boolean(), 'No new instance runs it.'),
  instances: described(t.Integer(), 'That run it.'),
})
export const showGpuImage = (call: UseContext, image: GpuImage): Static<typeof gpuImageResponse> => ({
  id: image.id,
  name: image.name,
  reference: image.reference,
  description: image.description,
  icon: image.icon,
  docsUrl: image.docsUrl,
  opensPort: image.opensPort,
  mostMb: image.mostMb,
  jupyter: image.jupyter,
  command: image.command,
  environment: image.environment,
  ports: image.ports,
  registryUsername: image.registryUsername,
  archived: image.archived,
  instances: useOfGpuImage(call, image.id),
})
