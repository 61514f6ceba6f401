// The life of an instance by the agent's own commands, on real Podman with real SSH, ports and workspace.
import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chmodSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseCommand } from '../../../agent/commands/index.ts'
import { HostAccess } from '../../../agent/drivers/access/host-access.ts'
import { missingPackages } from '../../../agent/drivers/access/kit.ts'
import { FakeGpus } from '../../../agent/drivers/gpu/fake.ts'
import { CaddyHttpNames } from '../../../agent/drivers/http-names/caddy.ts'
import { FilePool } from '../../../agent/drivers/storage/file.ts'
import { Ext4Workspaces } from '../../../agent/drivers/workspace/ext4.ts'
import type { Host } from '../../../agent/host/host.ts'
import { httpLabel } from '../../../agent/protocol/gpu.ts'
import type { CommandName, Input } from '../../../agent/protocol/wire.ts'
import { openState } from '../../../agent/state.ts'
import { newKey, run, sshOptions } from '../../support/guest.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import { closePodman, podmanIsMissing, podmanRig } from '../containers/podman-rig.ts'
import { missing, note } from '../tools.ts'

const MiB = 2 ** 20
const HOST = '192.0.2.1'
const DOMAIN = 'gpu1.example.com'
const HTTP_PORT = 26_000 + (process.pid % 1000) * 2
const reason =
  (await podmanIsMissing()) ??
  (await missing('caddy')) ??
  (missingPackages().length ? `no ${missingPackages().join(', ')}` : undefined)

describe.skipIf(note(reason, 'the life of an instance'))('an instance, by the commands of the agent', () => {
  let host: Host
  let rig: Awaited<ReturnType<typeof podmanRig>>
  let keys: Awaited<ReturnType<typeof newKey>>[]
  let port: number
  let caddy: Bun.Subprocess | undefined

  /** The file of the instance by the name of its port, or the status of what is said instead. */
  const byName = async (workload: string) => {
    const headers = { Host: `${httpLabel(7860, workload)}.${DOMAIN}` }
    const response = await fetch(`http://127.0.0.1:${HTTP_PORT}/file`, { headers })
    return response.ok ? await response.text() : String(response.status)
  }

  const obey = async <N extends CommandName>(name: N, input: Input<N>) => await parseCommand(name, input).work(host)
  const ssh = (command: string, key = keys[0]!) => {
    const words = ['-o', 'BatchMode=yes', '-i', key.path, '-p', String(port), `root@${HOST}`, command]
    return run(['ssh', ...sshOptions, ...words])
  }

  beforeAll(async () => {
    await Bun.$`ip address add ${HOST}/32 dev lo`.quiet()
    keys = [await newKey(), await newKey()]
    rig = await podmanRig()
    chmodSync(rig.dir, 0o711)
    const db = new Database(':memory:')
    host = {
      containers: rig.containers,
      access: new HostAccess(rig.dir),
      workspaces: new Ext4Workspaces([new FilePool('local', join(rig.dir, 'pool'))], MiB),
      httpNames: new CaddyHttpNames({
        dir: join(rig.dir, 'http-names'),
        runningDir: join(rig.dir, 'running'),
        adminSocket: join(rig.dir, 'admin.sock'),
        storage: join(rig.dir, 'storage'),
        httpPort: HTTP_PORT,
        httpsPort: HTTP_PORT + 1,
        tls: () => 'plain',
      }),
      gpus: new FakeGpus(db, rig.dir, [], Date.now),
      state: openState(join(rig.dir, 'state.db')),
    } as unknown as Host
  }, 60_000)

  afterAll(async () => {
    for (const key of keys ?? []) key.remove()
    caddy?.kill('SIGKILL')
    await caddy?.exited
    await closePodman()
    host?.state.close()
    await Bun.$`ip address delete ${HOST}/32 dev lo`.quiet().nothrow()
  }, 60_000)

  test('is ordered, used, stopped, made anew and deleted, and each command may come twice', async () => {
    const container = rig.container(1, {
      authorizedKeys: [keys[0]!.publicKey],
      command: ['/bin/sleep', '600'],
      environment: [{ name: 'MODEL', value: 'first' }],
    })
    const { workload, number } = container
    const of = { workload }
    port = container.ports[0]!.host
    const twice = async (work: () => Promise<unknown>) => [await work(), await work()]
    const start = async (wanted = container) => {
      await twice(() => obey('container.create', wanted))
      await twice(() => obey('container.start', of))
      expect(await obey('container.await', { workload, limitSeconds: 20 })).toEqual({ answered: 'ssh' })
    }
    await obey('container-image.ensure', rig.image)
    await expect(obey('container.create', container)).rejects.toMatchObject({ code: 'no_workspace' })
    await twice(() => obey('workspace.create', { workload, number, sizeBytes: 16 * MiB }))
    await start()
    expect((await ssh('echo $MODEL; echo mine > /workspace/file')).out).toBe('first')

    const set = { domain: DOMAIN, names: [{ workload, number, port: 7860 }] }
    expect(await twice(() => obey('http-names.set', set))).toEqual([{ scheme: 'http' }, { scheme: 'http' }])
    caddy = Bun.spawn(['caddy', 'run', '--config', join(rig.dir, 'http-names/caddy.json')], {
      env: { PATH: process.env['PATH'], HOME: rig.dir },
      stderr: 'ignore',
    })
    await eventually(async () => (await byName(workload).catch(() => undefined)) === '502')
    expect(await byName(workload)).toBe('502')
    await ssh('/.berth/bin/busybox httpd -p 7860 -h /workspace')
    expect(await byName(workload)).toBe('mine\n')

    await obey('workspace.create', { workload, number, sizeBytes: 32 * MiB }).catch((error) =>
      // Not every kernel lets this machine enlarge a file system in use.
      expect(error).toMatchObject({ code: 'workspace_busy' }),
    )
    await obey('container.set-keys', { workload, authorizedKeys: [keys[1]!.publicKey] })
    expect([(await ssh('true')).code, (await ssh('true', keys[1])).code]).toEqual([255, 0])

    await twice(() => obey('container.stop', { workload, graceSeconds: 1 }))
    expect(await obey('container.await', { workload, limitSeconds: 1 })).toEqual({ answered: 'off' })
    expect(await byName(workload)).toBe('503')
    await obey('workspace.create', { workload, number, sizeBytes: 32 * MiB })
    const changed = { ...container, environment: [{ name: 'MODEL', value: 'second' }] }
    await start(changed)
    expect((await ssh('echo $MODEL; cat /workspace/file')).out).toBe('second\nmine')
    // A container that runs is made anew as well.
    await start({ ...changed, environment: [] })
    expect((await ssh('echo "$MODEL"; cat /workspace/file; df -m /workspace | tail -n 1')).out).toMatch(
      /^mine\n.* 2[0-9] /,
    )

    await twice(() => obey('container.remove', of))
    await twice(() => obey('workspace.remove', of))
    expect((await ssh('true')).code).toBe(255)
    expect([await host.workspaces.list(), readdirSync(join(rig.dir, 'instances'))]).toEqual([[], []])
    expect((await Bun.$`nft list tables`.quiet()).stdout.toString()).not.toContain('berth_instances')
    expect((await Bun.$`ip -o link`.quiet()).stdout.toString()).not.toContain('bgi')
  }, 60_000)
})
