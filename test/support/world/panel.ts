// A whole panel in one process: a database file, nodes with fake hosts that speak through the real hub, and ways to
// pull the plug.

import { generateKeyPairSync } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, relative } from 'node:path'
import type { FakeSettings } from '../../../agent/host/fake-host.ts'
import { keepAliveAgent } from '../../../agent/protocol/net/pinned-request.ts'
import { firmwares, vlanRangesOf } from '../../../agent/protocol/wire.ts'
import { files } from '../../../public/assets.ts'
import { configFrom } from '../../../src/app/config.ts'
import { createController } from '../../../src/app/controller.ts'
import { registry as productRegistry } from '../../../src/app/features.ts'
import { distributionsOver } from '../../../src/catalog/images/distributions/servers.ts'
import { images } from '../../../src/catalog/images/tables.ts'
import { addIso } from '../../../src/compute/isos/library.ts'
import { addOwnImage } from '../../../src/compute/own-images/own-images.ts'
import { load, type Server } from '../../../src/compute/server-records/model.ts'
import { nodes } from '../../../src/fleet/node-records/tables.ts'
import { incomingFolder } from '../../../src/fleet/releases/release-folder.ts'
import { Releases } from '../../../src/fleet/releases/releases.ts'
import { keepPools } from '../../../src/fleet/storage-pools/queries.ts'
import { accounts, roles } from '../../../src/identity/account-records/tables.ts'
import { insertSession } from '../../../src/identity/auth/sessions/sessions.ts'
import { addStaff } from '../../../src/identity/staff/staff-member.ts'
import { makeToken } from '../../../src/identity/tokens/model.ts'
import type { Permission, Scope } from '../../../src/kernel/api/access.ts'
import { audit } from '../../../src/kernel/audit/tables.ts'
import { csrfToken } from '../../../src/kernel/crypto/csrf-token.ts'
import { secretsWith } from '../../../src/kernel/crypto/secrets.ts'
import { deleteExpired } from '../../../src/kernel/db/expiring.ts'
import { newId } from '../../../src/kernel/db/ids.ts'
import { type Db, openDb, write } from '../../../src/kernel/db/open.ts'
import type { Feature } from '../../../src/kernel/feature.ts'
import { onEvent } from '../../../src/kernel/jobs/outbox.ts'
import type { Failpoints } from '../../../src/kernel/jobs/runner/execution.ts'
import { events, jobs } from '../../../src/kernel/jobs/tables.ts'
import { quieten } from '../../../src/kernel/log.ts'
import { rendered } from '../../../src/kernel/mail/mail.ts'
import { NoAnswer } from '../../../src/kernel/net/egress.ts'
import type { Transport } from '../../../src/kernel/net/exchange.ts'
import { deliveries } from '../../../src/kernel/queue/tables.ts'
import { readerLimits } from '../../../src/kernel/reader/reader.ts'
import { assemble } from '../../../src/kernel/registry.ts'
import { Assets } from '../../../src/kernel/web/assets.ts'
import { poolNodes } from '../../../src/network/ip-pools/tables.ts'
import type { ForwardLookUp } from '../../../src/network/reverse-dns/forward.ts'
import { HostFigures, type HostSource } from '../../../src/platform/host/figures.ts'
import { Updates } from '../../../src/platform/updates/service.ts'
import { newKey } from '../../release/signed.ts'
import { emptyQcow2 } from '../guest.ts'
import { closedAtEnd } from '../opened.ts'
import { eventually } from '../waiting/eventually.ts'
import { type FakeAgent, fakeAgent } from './fake-agent.ts'
import { fingerprint } from './fingerprint.ts'
import { emptyDatabase, scratch } from './fresh-db.ts'
import { inThisThread } from './reader.ts'
import { declarationsOf, eventsHeldTo } from './response-check.ts'
import { type Seeded, type Size, seed } from './seed.ts'

/** Every node of a test proves itself by it. */
const nodeKey = generateKeyPairSync('ed25519')

/** In memory where the system has such a place: thousands of small transactions, each flushed. */

export type Who = { token?: string; cookie?: string; csrf?: string }
export type Reply = { status: number; body: any; headers: Headers }
type Options = {
  failpoints?: Failpoints
  agentCrash?: (moment: 'before' | 'after', command: { key: string; name: string }) => void
  callsPerMinute?: number
  host?: Partial<HostSource>
  /** When the certificate of the built-in TLS ends, in milliseconds after the panel begins. */
  certificateEndsInMs?: number
  agentDir?: string
  /** PANEL_LOCAL_SERVICES; loopback, where the tests' mail servers and identity providers are, if not given. */
  localServices?: string
  /** PANEL_LOCAL_SOURCES. */
  localSources?: string
  /** PANEL_LOCAL_REGISTRIES. */
  localRegistries?: string
  /** Every request is in the journal. */
  logRequests?: boolean
  /** The servers of distributions; without it none answers. */
  distributions?: Parameters<typeof distributionsOver>[1]
  /** The addresses of names, for reverse DNS; without it none has any. */
  forwardLookUp?: ForwardLookUp
  /** How webhooks leave; without it no name resolves. */
  webhooks?: Partial<Transport>
  /** PANEL_WEBHOOK_ALLOW_PRIVATE. */
  webhookAllowPrivate?: string
  /** The keys whose releases count, and how the address of releases is read; without it none counts, none answers. */
  updates?: Pick<NonNullable<ConstructorParameters<typeof Updates>[1]>, 'keys' | 'fetch'>
  /** Features beside those of the product, such as one that a test declares. */
  features?: readonly Feature[]
  /** How long reads are made, and their limits; without it in the thread of the test. */
  startReader?: typeof inThisThread
  /** Begins as that panel was. */
  from?: Snapshot
  /** Begins with a hosting company of this size in its database, or with what this writes there. */
  seeded?: Size | ((dir: string) => Seeded)
  /** Called with each database that is opened, before anything reads it. */
  opened?(db: Db): void
}
/** A panel as it stood: its files by their paths below its directory, its clock and its nodes. */
export type Snapshot = {
  files: ReadonlyMap<string, Uint8Array>
  now: number
  nodes: readonly [id: string, settings: Partial<FakeSettings>][]
}

/** A host with nothing to say about: what the machine under the tests has is not theirs to fail by. */
export const calmHost: HostSource = {
  proc: (name) =>
    ({
      stat: 'cpu  100 0 100 700 100 0 0 0 0 0\ncpu0 50 0 50 350 50 0 0 0 0 0\ncpu1 50 0 50 350 50 0 0 0 0 0\n',
      loadavg: '0.50 0.25 0.10 1/100 4242\n',
      meminfo: 'MemTotal: 1000 kB\nMemFree: 100 kB\nMemAvailable: 600 kB\nSwapTotal: 500 kB\nSwapFree: 400 kB\n',
      uptime: '3600.50 7000.00\n',
    })[name],
  disk: () => ({ bsize: 4096, blocks: 1000, bfree: 600, bavail: 600 }),
  fileBytes: () => 1024,
  ownBytes: () => 2048,
}

/** The tests have no internet but the files of the examples of an own image and of an ISO. */
const onlyExamples: Parameters<typeof distributionsOver>[1] = async ({ href }) => {
  if (href !== addOwnImage.example!.url && href !== addIso.example!.url)
    throw new NoAnswer('The tests have no internet.')
  const body = emptyQcow2()
  return { status: 206, headers: { 'content-range': `bytes 0-${body.length - 1}/${body.length}` }, body }
}

const isJson = ({ status, headers }: Response) =>
  status !== 204 && /^application\/json\b/.test(headers.get('Content-Type') ?? '')

export type Panel = Awaited<ReturnType<typeof panel>>

/** Read once: they are the same for every panel. */
const assets = Assets.load(files)

/** Agents are brought to releases that it signed, unless a test has its own keys. */
export const releaseKey = newKey()

export async function panel(options: Options = {}) {
  quieten(true)
  const dir = mkdtempSync(`${scratch}/berth-test-`)
  for (const [path, bytes] of options.from?.files ?? []) {
    mkdirSync(dirname(`${dir}/${path}`), { recursive: true })
    writeFileSync(`${dir}/${path}`, bytes)
  }
  const seeded =
    typeof options.seeded === 'function' ? options.seeded(dir) : options.seeded && seed(dir, options.seeded)
  let now = options.from?.now ?? 1_800_000_000_000
  const certificateEndsAt = options.certificateEndsInMs === undefined ? undefined : now + options.certificateEndsInMs
  let wallClockOffMs = 0
  let open = options
  const secrets = secretsWith(Buffer.alloc(32, 7))
  const config = configFrom({
    PANEL_DATA_DIR: dir,
    PANEL_PUBLIC_URL: 'https://panel.test',
    PANEL_AGENT_DIR: options.agentDir,
    PANEL_LOCAL_SERVICES: options.localServices ?? '127.0.0.0/8',
    PANEL_LOCAL_REGISTRIES: options.localRegistries,
    PANEL_LOCAL_SOURCES: options.localSources,
    PANEL_LOG_REQUESTS: options.logRequests ? '1' : undefined,
    PANEL_WEBHOOK_ALLOW_PRIVATE: options.webhookAllowPrivate,
  })
  const registry = options.features ? assemble([...productRegistry.features, ...options.features]) : productRegistry
  const dbPath = `${dir}/berth.db`
  if (!existsSync(dbPath)) writeFileSync(dbPath, emptyDatabase(registry.migrations))
  const holdToDeclaration = declarationsOf(registry.allOperations)
  const holdEvent = eventsHeldTo(registry)
  const opened = () => {
    const db = openDb(dbPath, registry.migrations)
    onEvent(db, holdEvent)
    options.opened?.(db)
    return db
  }
  const build = () =>
    createController({
      config,
      registry,
      clock: () => now + wallClockOffMs,
      monotonic: () => now++,
      secrets,
      db: opened(),
      assets,
      failpoints: (m) => open.failpoints?.(m),
      startReader: (options.startReader ?? inThisThread)(registry),
      // Also what a small database has.
      readerLimits: { ...readerLimits, fromBytes: 0 },
      callsPerMinute: options.callsPerMinute ?? 1e9,
      pauseMs: () => 1,
      services: {
        host: new HostFigures({ ...calmHost, ...options.host }, dir, certificateEndsAt),
        distributions: distributionsOver([], options.distributions ?? onlyExamples),
        releases: new Releases({
          ...{ dataDir: dir, agentDir: config.agentDir, clock: () => now, mbps: () => 100_000 },
          keys: options.updates?.keys ?? [releaseKey.key],
        }),
        updates: new Updates(dir, {
          // Root's files of a machine on which nothing of Berth is installed, until the test makes them.
          machine: { folder: `${dir}/machine/berth`, hostProgram: `${dir}/machine/berth-host`, program: '/berth' },
          keys: [],
          fetch: async () => {
            throw new NoAnswer('The tests have no internet.')
          },
          ...options.updates,
        }),
        panelLookUp: async () => [],
        forwardLookUp: options.forwardLookUp ?? (async () => []),
        webhookTransport: {
          silenceMs: 10_000,
          totalMs: 15_000,
          agent: keepAliveAgent(),
          lookUp: async () => [],
          ...options.webhooks,
        },
      },
    })
  let controller = await build()
  const agents = new Map<string, FakeAgent>()

  function openAgent(nodeId: string, settings: Partial<FakeSettings> = {}) {
    const agent = fakeAgent({
      nodeId,
      key: nodeKey.privateKey,
      home: `${dir}/${nodeId}`,
      settings,
      hub: () => controller.hub,
      joinFiles: (nodeId, session) => controller.app.fileQuestions.join(nodeId, session),
      now: () => now,
      crash: (moment, command) => open.agentCrash?.(moment, command),
    })
    agents.set(nodeId, agent)
    return agent
  }

  async function call(
    who: Who | undefined,
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Reply> {
    const sent: Record<string, string> = { ...headers }
    if (who?.token) sent['Authorization'] = `Bearer ${who.token}`
    if (who?.cookie)
      Object.assign(sent, {
        Cookie: `__Host-panel=${who.cookie}`,
        ...(method === 'GET' ? {} : { Origin: 'https://panel.test', 'X-CSRF-Token': csrfToken(who.csrf ?? '') }),
        ...headers,
      })
    if (body !== undefined && !sent['Content-Type']) sent['Content-Type'] = 'application/json'
    const response = await controller.router.fetch(
      new Request(`http://localhost/api/v1${path}`, {
        method,
        headers: sent,
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      }),
    )
    const text = await response.text()
    const answer = text && isJson(response) ? JSON.parse(text) : text
    holdToDeclaration(method, path, response.status, answer)
    return { status: response.status, body: answer, headers: response.headers }
  }

  const p = {
    dir,
    config,
    /** The rows that `seeded` made; undefined without it. */
    seeded,
    get db() {
      return controller.db
    },
    get controller() {
      return controller
    },
    agents,
    call,
    /** Time goes by. */
    turnClock: (ms: number) => void (now += ms),
    /** The deletion that the clock starts each minute. */
    deleteExpired: () => deleteExpired(controller.db, registry.expiring, () => now),
    /** Somebody sets the host's clock by so much; no time goes by. The controller notices it at once, or later. */
    setWallClock(byMs: number, atOnce = true) {
      wallClockOffMs += byMs
      if (atOnce) controller.app.time.observe()
    },
    now: () => now,
    /** The time that the host's clock shows. */
    wallClock: () => now + wallClockOffMs,
    /** As System, as `berth admin` does; throws what was refused. */
    async admin(method: string, path: string, body?: unknown): Promise<any> {
      const response = await controller.fetchLocal(
        new Request(`http://localhost/api/v1${path}`, {
          method,
          ...(body === undefined
            ? {}
            : { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }),
        }),
      )
      const answer: any = await response.json()
      if (!response.ok) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`)
      holdToDeclaration(method, path, response.status, answer)
      return answer
    },
    staff(permissions?: readonly Permission[], name = 'Ada'): { id: string } & Who {
      return write(controller.db, (tx) => {
        const role = permissions
          ? tx
              .insert(roles)
              .values({ id: newId('role'), name: `role ${newId('role')}`, permissions: [...permissions] })
              .returning()
              .get().name
          : 'Owner'
        const account = addStaff(tx, {
          email: `${newId('usr').slice(4)}@staff.test`,
          name,
          passwordHash: 'x',
          role,
          now,
        })
        return { id: account.id, ...signedIn(tx, account) }
      })
    },
    account(kind: 'customer' | 'reseller', name: string, resellerId: string | null = null): { id: string } & Who {
      return write(controller.db, (tx) => {
        const account = tx
          .insert(accounts)
          .values({
            id: newId('usr'),
            kind,
            name,
            email: `${newId('usr').slice(4)}@${kind}.test`,
            resellerId,
            createdAt: now,
          })
          .returning()
          .get()
        return { id: account.id, ...signedIn(tx, account) }
      })
    },
    /** Another session of an account that is there. */
    signIn: (accountId: string): { id: string } & Who =>
      write(controller.db, (tx) => ({
        id: accountId,
        ...signedIn(
          tx,
          tx
            .select()
            .from(accounts)
            .all()
            .find((a) => a.id === accountId),
        ),
      })),
    token(
      accountId: string,
      scopes: readonly Scope[] = Object.keys(registry.scopes) as Scope[],
      allow: string[] = [],
    ): Who {
      return write(controller.db, (tx) => {
        const account = tx
          .select()
          .from(accounts)
          .all()
          .find((a) => a.id === accountId)!
        return { token: makeToken(tx, account, { name: 'test', scopes, allow, expiresAt: null }, now).token }
      })
    },
    addNode(locationId: string, name = `node-${agents.size + 1}`, settings: Partial<FakeSettings> = {}) {
      const id = newId('nod')
      write(controller.db, (tx) => {
        tx.insert(nodes)
          .values({
            id,
            name,
            locationId,
            publicKey: nodeKey.publicKey.export({ format: 'jwk' }).x!,
            bridge: 'br0',
            reservedMemoryMb: 0,
            memoryMb: settings.memoryMb ?? 65_536,
            threads: 16,
            seenAt: now,
            createdAt: now,
            facts: {
              hostname: name,
              agentVersion: '0.1.0',
              fake: true,
              os: 'Fake',
              kernel: 'none',
              bootedAt: 0,
              cpu: { model: 'Fake', threads: 16 },
              memoryMb: 65_536,
              virtualisation: { kind: 'none', reason: 'fake' },
              versions: {},
              hardware: { firmware: settings.firmware ?? [...firmwares], tpm: settings.tpm ?? true },
              bridges: [],
              addresses: [],
              ...(settings.uplink && {
                uplink: { ...settings.uplink, up: true, vlans: vlanRangesOf(settings.uplink.vlans)! },
              }),
              managementAddress: `10.9.0.${agents.size + 1}`,
            },
          })
          .run()
        const pools = [{ name: 'local', totalBytes: 1024 ** 4 }, ...(settings.pools ?? [])]
        keepPools(
          tx,
          id,
          pools.map((given) => ({ kind: 'fake', path: '/', freeBytes: given.totalBytes, ...given })),
          now,
        )
      })
      const agent = openAgent(id, settings)
      agent.connect()
      return { id, agent }
    },
    /** The id of a storage pool: the first of any node. */
    storagePool: (): string =>
      (controller.db.$client.query('SELECT id FROM storage_pools ORDER BY id').get() as { id: string }).id,
    /** An ISO of the library. */
    addIso(name = 'Debian 13 netinst', ownerId: string | null = null): string {
      const id = newId('iso')
      controller.db.$client.run(
        'INSERT INTO isos VALUES (?, ?, (SELECT reseller_id FROM accounts WHERE id = ?), ?, ?, ?, ?, ?, NULL)',
        [
          id,
          ownerId,
          ownerId,
          name,
          'https://mirror.example/netinst.iso',
          `sha256:${'0'.repeat(64)}`,
          700_000_000,
          now,
        ],
      )
      return id
    },
    /** The record of an extra volume, which its node does not have. */
    addVolume(ownerId: string, nodeId: string, serverId: string | null = null): string {
      const id = newId('vol')
      controller.db.$client.run(
        `INSERT INTO volumes
         SELECT ?1, ?2, (SELECT reseller_id FROM accounts WHERE id = ?2), n.id, n.location_id, 'local', 'qcow2', ?1, 1,
           1, 'ready', ?4, coalesce(?4, 'srv_none'), NULL, ?5, 0, NULL
         FROM nodes n WHERE n.id = ?3`,
        [id, ownerId, nodeId, serverId, now],
      )
      return id
    },
    addImage(name = 'Debian 13', minDiskGb = 1): string {
      const id = newId('img')
      write(controller.db, (tx) => {
        tx.insert(images)
          .values({
            id,
            name,
            origin: 'imported',
            url: `/agent/v1/images/${id}`,
            format: 'qcow2',
            checksum: `sha256:${'0'.repeat(64)}`,
            sizeBytes: 1,
            minDiskGb,
            user: 'root',
            published: true,
            createdAt: now,
          })
          .run()
      })
      return id
    },
    attach: (poolId: string, nodeId: string) =>
      write(controller.db, (tx) => void tx.insert(poolNodes).values({ poolId, nodeId }).run()),
    server: (id: string): Server => load(controller.db, id),
    job: (id: string) =>
      controller.db
        .select()
        .from(jobs)
        .all()
        .find((j) => j.id === id)!,
    events: () =>
      controller.db
        .select()
        .from(events)
        .all()
        .map((e) => e.type),
    /** The mails that wait, as they would leave. */
    mailed: () =>
      controller.db
        .select()
        .from(deliveries)
        .all()
        .filter(({ kind }) => kind === 'mail')
        .map(({ id, recipient, subject, encryptedPayload }) => ({
          to: recipient,
          subject,
          ...rendered({ ...JSON.parse(secrets.open(id, encryptedPayload)), publicUrl: config.publicUrl }),
        })),
    auditLines: () => controller.db.select().from(audit).all(),
    /**
     * Everything a refused call must not have touched: every table, but for what is noted of every call, and those that
     * are named.
     */
    fingerprint: (but: readonly string[] = []) => fingerprint(controller.db, but),
    /** The folder of releases, which are signed by `releaseKey`. */
    releaseFolder() {
      const folder = incomingFolder(dir)
      mkdirSync(folder, { recursive: true })
      return folder
    },
    /** Runs until no job is going. */
    async settle() {
      for (let i = 0; i < 3; i++) {
        await Bun.sleep(0)
        await controller.runner.idle()
      }
      controller.runner.log.flush()
    },
    /** Waits until what nodes have reported is stored: what comes at once is stored a moment later. */
    reported: () => eventually(() => !controller.reports.isBehind),
    /**
     * The power of the controller goes out; a new one starts over the same database, or over what `meanwhile` puts in
     * its place, and the nodes come back.
     */
    async crash({ nodesComeBack = true, meanwhile = () => {} }: { nodesComeBack?: boolean; meanwhile?(): void } = {}) {
      controller.runner.stop()
      // The nodes' going is not recorded.
      controller.beginStop()
      for (const agent of agents.values()) agent.disconnect()
      controller.reports.stop()
      controller.app.reader.stop()
      controller.db.$client.close()
      meanwhile()
      controller = await build()
      if (nodesComeBack) for (const agent of agents.values()) agent.connect()
      controller.runner.start()
    },
    /** For panels that begin as this one is now. It is held in memory. */
    snapshot(): Snapshot {
      controller.db.$client.run('PRAGMA wal_checkpoint(TRUNCATE)')
      const files = readdirSync(dir, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => `${entry.parentPath}/${entry.name}`)
      return {
        files: new Map(files.map((path) => [relative(dir, path), readFileSync(path)])),
        now,
        nodes: [...agents].map(([id, { settings }]) => [id, settings] as const),
      }
    },
    arm(next: Options) {
      open = next
    },
    close: closedAtEnd(() => {
      controller.runner.stop()
      for (const agent of agents.values()) agent.close()
      // Its timer would otherwise write into the journal of the next test.
      controller.reports.stop()
      controller.app.reader.stop()
      controller.db.$client.close()
      rmSync(dir, { recursive: true, force: true })
    }),
    [Symbol.dispose]() {
      p.close()
    },
  }

  function signedIn(tx: any, account: any) {
    const cookie = insertSession(tx, account, { now, from: '127.0.0.1', userAgent: 'test' })
    const csrf = tx.$client.query('SELECT csrf FROM sessions ORDER BY rowid DESC LIMIT 1').get().csrf as string
    return { cookie, csrf }
  }
  for (const [id, settings] of options.from?.nodes ?? []) openAgent(id, settings).connect()
  return p
}

export type World = Awaited<ReturnType<typeof newWorld>>

let opened = 0
let copied: { from: Snapshot; known: Omit<World, keyof Panel | 'node'> } | undefined

/** A panel that can sell a server: one of everything. A file that opens many gets copies of one. */
export async function world(options: Options = {}): Promise<World> {
  if (options.features || options.from || options.seeded || ++opened < 3) return await newWorld(options)
  if (!copied) {
    using p = await newWorld()
    const { owner, location, pool, pack, image, customer, order } = p
    copied = { from: p.snapshot(), known: { owner, location, pool, pack, image, customer, order } }
  }
  const { from, known } = copied
  const p = await panel({ ...options, from })
  const [[id, agent]] = [...p.agents] as [[string, FakeAgent]]
  return Object.assign(p, structuredClone(known), { node: { id, agent } })
}

async function newWorld(options: Options = {}) {
  const p = await panel(options)
  const staff = p.staff()
  const location = (await p.admin('POST', '/admin/node-groups', { name: 'Frankfurt' })).id as string
  const node = p.addNode(location, 'fra-01')
  const pool = (
    await p.admin('POST', '/admin/ip-pools', {
      name: 'v4',
      network: '203.0.113.0/24',
      gateway: '203.0.113.1',
      first: '203.0.113.10',
      last: '203.0.113.29',
      nodeIds: [node.id],
      // Tests of the quarantine set it.
      quarantineHours: 0,
    })
  ).id as string
  const pack = (await p.admin('POST', '/admin/packages', { name: 'KVM 2G', vcpus: 2, memoryMb: 2048, diskGb: 20 }))
    .id as string
  const image = p.addImage()
  const customer = p.account('customer', 'Cal')
  const order = {
    ownerId: customer.id,
    packageId: pack,
    nodeGroupId: location,
    imageId: image,
    hostname: 'web01',
    access: { mode: 'password' },
  }
  return Object.assign(p, { owner: staff, location, node, pool, pack, image, customer, order })
}
