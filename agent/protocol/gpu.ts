// Cards and container instances in the protocol.
import { type Static, Type as t } from 'typebox'
import { anyText, counter, ENCRYPTED_LONG, line, megabytes, RestartPolicy, workloadId } from './bounds.ts'

/** A card's UUID as its driver names it. It keeps it in another slot or machine. */
export const CARD_UUID = '^GPU-[0-9a-zA-Z-]{1,60}$'
export const cardUuid = t.String({ pattern: CARD_UUID })
export const MOST_CARDS = 64

/** Sentences for people about what is wrong, each with its remedy where there is one. Empty: nothing is. */
const problems = t.Array(line(300), { maxItems: 16 })

/** The container engine of a host, and what keeps the host from running instances. */
export const ContainerEngine = t.Object(
  {
    /** `podman`, or `fake`. */
    name: line(40),
    version: line(40),
    problems,
  },
  { title: 'ContainerEngine' },
)
export type ContainerEngine = Static<typeof ContainerEngine>

/** A card as its driver sees it. One with problems is not sold. */
export const Card = t.Object(
  {
    uuid: cardUuid,
    model: line(100),
    memoryMb: megabytes,
    /** The PCI address, as in `0000:3b:00.0`. */
    bus: line(40),
    driver: line(40),
    serial: line(60),
    nvlinks: t.Integer({ minimum: 0, maximum: 64 }),
    mig: t.Enum(['none', 'off', 'on']),
    problems,
  },
  { title: 'Card' },
)
export type Card = Static<typeof Card>

/** The use of one card. */
export const CardSample = t.Object({
  uuid: cardUuid,
  /** Percent of the time in which a program ran on it. */
  usePercent: t.Integer({ minimum: 0, maximum: 100 }),
  memoryUsedMb: megabytes,
  temperatureC: t.Integer({ minimum: -50, maximum: 200 }),
  powerW: t.Integer({ minimum: 0, maximum: 5000 }),
  /** Memory errors since the driver was loaded. */
  correctedErrors: counter,
  uncorrectedErrors: counter,
})
export type CardSample = Static<typeof CardSample>

/** The result of the health check of one card, whose memory was cleared before: of `clearedMb` MiB this is proved. */
export const CardCheck = t.Object({
  uuid: cardUuid,
  sellable: t.Boolean(),
  problems,
  clearedMb: megabytes,
  /** The throughput of its memory, where it was measured. */
  memoryGBps: t.Optional(t.Number({ minimum: 0, maximum: 1_000_000 })),
})
export type CardCheck = Static<typeof CardCheck>

export const containerImageId = t.String({ pattern: '^gim_[0-9a-z]{26}$' })
/** An image of a registry, and the login there. */
export const ContainerImage = t.Object({
  id: containerImageId,
  /** `registry/name@sha256:…`. */
  reference: t.String({
    maxLength: 512,
    pattern: '^[a-z0-9.-]+(:[0-9]{1,5})?/[a-z0-9._/-]+@sha256:[0-9a-f]{64}$',
  }),
  /** The sum of its compressed layers may not be larger. */
  mostBytes: counter,
  /** JSON `{"username","password"}`, encrypted for the node (`registryPurpose`). */
  credentials: t.Optional(t.String({ pattern: ENCRYPTED_LONG })),
})
export type ContainerImage = Static<typeof ContainerImage>
/** The purposes for which an image's login and an instance's Jupyter token are encrypted. */
export const registryPurpose = (imageId: string) => `registry of ${imageId}`
export const jupyterPurpose = (workload: string) => `jupyter of ${workload}`

const port = t.Integer({ minimum: 1, maximum: 65_535 })
export const authorizedKeys = t.Array(line(16_384), { maxItems: 100 })
/** A container instance, all of it. The node converges on it. */
export const Container = t.Object({
  workload: workloadId,
  /** Unique over the controller, never used twice: names the instance's user ids, address and devices on the host. */
  number: t.Integer({ minimum: 1, maximum: 2 ** 31 - 1 }),
  hostname: t.String({ maxLength: 63, pattern: '^[a-z0-9]([a-z0-9-]*[a-z0-9])?$' }),
  image: containerImageId,
  cards: t.Array(cardUuid, { maxItems: MOST_CARDS }),
  vcpus: t.Integer({ minimum: 1, maximum: 512 }),
  memoryMb: t.Integer({ minimum: 64, maximum: 2 ** 30 }),
  /** Replaces the image's own command; left out: the image's. */
  command: t.Optional(t.Array(anyText(4096), { minItems: 1, maxItems: 64 })),
  environment: t.Array(
    t.Object({ name: t.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]{0,127}$' }), value: anyText(8192) }),
    {
      maxItems: 100,
    },
  ),
  /** An IPv4 address of its own, all of whose ports reach the instance; null: `ports` of the host alone. */
  address: t.Union([t.String({ maxLength: 45, pattern: '^[0-9.]+$' }), t.Null()]),
  /** Ports of the container, and of the host that lead to them. `22` is the instance's SSH. */
  ports: t.Array(t.Object({ container: port, host: port }), { maxItems: 100 }),
  authorizedKeys,
  /** The image's Jupyter is started on port 8888 with this token, encrypted for the node (`jupyterPurpose`). */
  jupyterToken: t.Optional(t.String({ pattern: ENCRYPTED_LONG })),
  restartPolicy: RestartPolicy,
})
export type Container = Static<typeof Container>

/** Why a container ended, as exactly as the host knows. */
export const ContainerEnd = t.Object({
  /** Null where the host does not know it. */
  exitCode: t.Union([t.Integer({ minimum: -1, maximum: 255 }), t.Null()]),
  /** The kernel killed its command because the container's memory was full. */
  oomKilled: t.Boolean(),
  /** Plain words. */
  detail: line(300),
})
export type ContainerEnd = Static<typeof ContainerEnd>

/** The most characters of logs in one answer, and the most lines. */
export const MOST_LOG_CHARACTERS = 256 << 10
export const MOST_LOG_LINES = 5000
/** A place in a log, which only the node that gave it understands: two numbers. */
export const LOG_CURSOR = '^\\d{1,20}-\\d{1,20}$'
export const logCursor = t.String({ pattern: LOG_CURSOR, maxLength: 41, title: 'a cursor that a node gave' })

/** The scheme of the links to HTTP ports. */
export const httpScheme = t.Enum(['http', 'https'])
export type HttpScheme = Static<typeof httpScheme>
/** A domain of at least two labels, in lower case, that leaves space for the labels before it. */
export const DOMAIN = '^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\\.){1,8}[a-z]([a-z0-9-]{0,61}[a-z0-9])?$'
export const MOST_DOMAIN_CHARACTERS = 190
/** An instance may have so many HTTP ports with a name. */
export const MOST_HTTP_PORTS = 10
/** All HTTP ports of a host that have a name under its domain. Null: it has none, and so has no names. */
export const HttpNamesOfHost = t.Object({
  domain: t.Union([t.String({ maxLength: MOST_DOMAIN_CHARACTERS, pattern: DOMAIN }), t.Null()]),
  names: t.Array(t.Object({ workload: workloadId, number: t.Integer({ minimum: 1, maximum: 2 ** 31 - 1 }), port }), {
    maxItems: 2000,
  }),
})
export type HttpNamesOfHost = Static<typeof HttpNamesOfHost>
/** The first label of a port's name. No other instance ever gets it, because ids are never used twice. */
export const httpLabel = (port: number, workload: string) => `${port}-${workload.slice(workload.indexOf('_') + 1)}`
