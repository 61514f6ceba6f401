// HTTP ports of an instance that have a name of their own, where its host has a domain for them.
import { Type as t } from 'typebox'
import { httpLabel, MOST_HTTP_PORTS } from '../../../../agent/protocol/gpu.ts'
import { containerPortsOf, type GpuImage, SSH_PORT } from '../../../catalog/gpu-images/model.ts'
import { gpuHostOf } from '../../../fleet/gpus/queries.ts'
import { everybody } from '../../../kernel/api/access.ts'
import { invalid } from '../../../kernel/api/errors.ts'
import { described, fields, nullable, operation } from '../../../kernel/api/operation.ts'
import type { Db } from '../../../kernel/db/open.ts'
import { changeResponse, type GpuInstance, gpuInstance } from '../model.ts'
import { updateInstance } from '../queries.ts'
import { mustAllowFor, refusalsOf } from '../state.ts'

type Ports = Pick<GpuInstance, 'httpPorts'>
type PortsOfImage = Pick<GpuImage, 'jupyter' | 'ports'>
/** The ports that have a name: those that the owner chose, or those of its image, Jupyter first. */
export const httpPortsOf = ({ httpPorts }: Ports, image: PortsOfImage): number[] =>
  httpPorts ??
  containerPortsOf(image)
    .filter((port) => port !== SSH_PORT)
    .slice(0, MOST_HTTP_PORTS)

/** The domain of its names and the links of these ports; none where its host serves no names. */
export function httpLinksOf(
  tx: Db,
  instance: Pick<GpuInstance, 'id' | 'nodeId' | 'httpPorts' | 'lifecycle'>,
  image: PortsOfImage,
): { httpDomain: string | null; httpPorts: { port: number; url: string }[] } {
  const { httpDomain = null, httpScheme = null } = gpuHostOf(tx, instance.nodeId) ?? {}
  if (httpDomain === null || httpScheme === null || instance.lifecycle === 'terminated')
    return { httpDomain: null, httpPorts: [] }
  const urlOf = (port: number) => `${httpScheme}://${httpLabel(port, instance.id)}.${httpDomain}/`
  return { httpDomain, httpPorts: httpPortsOf(instance, image).map((port) => ({ port, url: urlOf(port) })) }
}

/** In a body. */
export const httpPortsField = described(
  nullable(t.Array(t.Integer({ minimum: 1, maximum: 65_535 }), { maxItems: MOST_HTTP_PORTS })),
  'Ports of the container with an HTTP name; none: no names. Null: the ports of its image.',
)
/** Each port once. Throws `validation_failed` for that of SSH. */
export function checkedHttpPorts(httpPorts: number[] | null): number[] | null {
  if (httpPorts?.includes(SSH_PORT)) throw invalid({ field: 'httpPorts', message: 'must not have the port of SSH.' })
  return httpPorts && [...new Set(httpPorts)]
}

export const setInstanceHttpPorts = operation({
  id: 'gpu-instances.set-http-ports',
  method: 'PUT',
  path: '/gpu-instances/{id}/http-ports',
  summary: 'Choose which ports of a GPU instance have an HTTP name of their own; in force within seconds',
  past: 'Changed the HTTP names',
  access: everybody('servers:settings'),
  on: gpuInstance,
  body: fields({ httpPorts: httpPortsField }),
  response: changeResponse,
  refuses: refusalsOf('http_ports'),
  example: { httpPorts: [8888, 7860] },
  run({ tx, actor, target, body }) {
    const httpPorts = checkedHttpPorts(body.httpPorts)
    mustAllowFor(tx, actor, target, 'http_ports')
    updateInstance(tx, target.id, { httpPorts })
    return { instanceId: target.id }
  },
})
