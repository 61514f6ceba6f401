// The container of an instance, as its node is told: built from the record each time that it is sent, because it holds
// what no job may hold.
import { encryptFor } from '../../../../agent/protocol/for-node.ts'
import { type Container, type ContainerImage, jupyterPurpose } from '../../../../agent/protocol/gpu.ts'
import { containerPortsOf, environmentPairs, type GpuImage, imageOnWire } from '../../../catalog/gpu-images/model.ts'
import { gpuImageById } from '../../../catalog/gpu-images/queries.ts'
import { heldOf } from '../../../fleet/gpus/hold.ts'
import { nodeById } from '../../../fleet/node-records/queries.ts'
import { randomToken, type Secrets } from '../../../kernel/crypto/secrets.ts'
import { encryptedColumn } from '../../../kernel/db/encrypted.ts'
import type { Db } from '../../../kernel/db/open.ts'
import type { CommandSource } from '../../../kernel/jobs/saga.ts'
import { primaryIpv4 } from '../../../network/ip-pools/allocate.ts'
import { type GpuInstance, load } from '../model.ts'
import { gpuInstances } from '../tables.ts'

/** Nodes take so many; image and owner may set as many each. */
const MOST_VARIABLES = 100

type Row = Pick<GpuInstance, 'id'>
export const encryptedEnvironment = encryptedColumn(gpuInstances, 'environment', ({ id }: Row) => `${id} environment`)
export const encryptedJupyterToken = encryptedColumn(gpuInstances, 'jupyterToken', ({ id }: Row) => `${id} jupyter`)

/** A new token for the Jupyter of an instance, encrypted. */
export const newJupyterToken = (secrets: Secrets, row: Row): string =>
  secrets.encrypt(encryptedJupyterToken.about(row), randomToken())
export const openJupyterToken = (secrets: Secrets, row: Pick<GpuInstance, 'id' | 'jupyterToken'>): string | null =>
  row.jupyterToken === null ? null : secrets.open(encryptedJupyterToken.about(row), row.jupyterToken)

/** Null where there are none, so that the column is empty. */
export const closedEnvironment = (secrets: Secrets, row: Row, variables: readonly string[]): string | null =>
  variables.length ? secrets.encrypt(encryptedEnvironment.about(row), JSON.stringify(variables)) : null
export const openEnvironment = (secrets: Secrets, row: Pick<GpuInstance, 'id' | 'environment'>): string[] =>
  row.environment === null ? [] : JSON.parse(secrets.open(encryptedEnvironment.about(row), row.environment))

/** Ports of the container, and of the host that lead to them. With an address of its own it needs none. */
export const mappedPorts = (
  tx: Db,
  instance: Pick<GpuInstance, 'id' | 'nodeId'>,
  image: GpuImage,
): { container: number; host: number }[] => {
  const { ports } = heldOf(tx, instance)
  return containerPortsOf(image).flatMap((container, n) =>
    ports[n] === undefined ? [] : [{ container, host: ports[n] }],
  )
}

/** UUIDs of the cards that it holds. */
export const cardsOf = (tx: Db, instance: Pick<GpuInstance, 'id' | 'nodeId'>): string[] =>
  heldOf(tx, instance).cards.map(({ uuid }) => uuid)

/** The image with its login, encrypted for the node of the instance. */
export const imageFor = ({ db, secrets }: CommandSource, nodeId: string, imageId: string): ContainerImage =>
  imageOnWire(gpuImageById(db, imageId)!, nodeById(db, nodeId)!.publicKey, secrets)

/** The container of an instance from this image. What the owner set in its environment replaces what the image sets. */
export function containerOf({ db, secrets }: CommandSource, id: string, imageId: string): Container {
  const instance = load(db, id)
  const image = gpuImageById(db, imageId)!
  const own = environmentPairs(openEnvironment(secrets, instance))
  const named = new Set(own.map(({ name }) => name))
  const command = instance.command ?? image.command
  const token = openJupyterToken(secrets, instance)
  return {
    workload: id,
    number: instance.number,
    hostname: instance.hostname,
    image: imageId,
    cards: cardsOf(db, instance),
    vcpus: instance.vcpus,
    memoryMb: instance.memoryMb,
    ...(command && { command: [...command] }),
    environment: [...environmentPairs(image.environment).filter(({ name }) => !named.has(name)), ...own].slice(
      -MOST_VARIABLES,
    ),
    address: primaryIpv4(db, id),
    ports: mappedPorts(db, instance, image),
    authorizedKeys: instance.sshKeys.map(({ publicKey }) => publicKey),
    ...(image.jupyter &&
      token !== null && {
        jupyterToken: encryptFor(nodeById(db, instance.nodeId)!.publicKey, jupyterPurpose(id), token),
      }),
    restartPolicy: instance.restartPolicy,
  }
}
