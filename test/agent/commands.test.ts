import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { parseCommand } from '../../agent/commands/index.ts'
import type { FakeHypervisor } from '../../agent/drivers/hypervisor/fake.ts'
import type { FakeNetwork } from '../../agent/drivers/network/fake.ts'
import { type FakeSettings, openFakeHost } from '../../agent/host/fake-host.ts'
import { startVms } from '../../agent/host/startup.ts'
import { Supervision } from '../../agent/host/supervision.ts'
import type { CommandName, Input, Output, Vm } from '../../agent/protocol/wire.ts'
import { imageSource, macOf, portRulesOf, seedOf, vmOf, volumeOf, workloadId } from './examples.ts'
import { dataDir } from './run.ts'

const GiB = 1024 ** 3

/** A fake host, and a way to run one command on it. */
function rig(settings: Partial<FakeSettings> = {}, dir = dataDir()) {
  const host = openFakeHost(dir, { bootMs: 0, imageBytes: GiB, ...settings })
  const obey = async <N extends CommandName>(name: N, input: Input<N>) =>
    (await parseCommand(name, input).work(host)) as Output<N>
  /** Every command of an installation of `vm`, whose disk has 2 GiB. */
  async function install(vm: Vm) {
    const { workload } = vm
    await obey('image.ensure', imageSource)
    await obey('volume.create', { volume: vm.volume, image: imageSource.id, sizeBytes: 2 * GiB })
    await obey('seed.write', { ...seedOf(1), workload })
    await obey('firewall.allow', { ...portRulesOf(1), workload })
    await obey('vm.define', vm)
    await obey('vm.start', { workload })
    return obey('vm.await', { workload, address: null, limitSeconds: 5 })
  }
  return { dir, host, obey, install }
}

test('a workload of another kind lives on a node like a server, also after a reboot', async () => {
  const { dir, host, install } = rig()
  const workload = `gpu_${'7'.repeat(26)}`
  const volume = { ...volumeOf(1), workload }
  expect(await install(vmOf(1, { workload, volume }))).toEqual({ answered: 'agent' })
  expect((await host.hypervisor.look()).ours).toMatchObject([{ id: workload, power: 'running' }])
  expect(await host.storage.list()).toEqual([volume])
  host.close()

  const booted = rig({ bootId: 'second-boot' }, dir)
  await startVms(booted.host, new Supervision(booted.host, (_, work) => work()), new AbortController().signal)
  expect(await booted.obey('vm.look', { workload })).toEqual({ power: 'running' })
  await booted.obey('vm.remove', { workload })
  await booted.obey('volume.remove', volume)
  await booted.obey('firewall.forget', { workload })
  expect(await booted.host.storage.list()).toEqual([])
  expect(booted.host.state.portRules()).toEqual([])
})

describe('a vm in a VLAN', () => {
  const uplink = { name: 'bond0', vlans: '20,30-39' }
  const inVlan = (n: number, vlan?: number) => {
    const vm = vmOf(n)
    return { ...vm, network: { ...vm.network, ...(vlan !== undefined && { vlan }) } }
  }
  const bridgesOf = (host: ReturnType<typeof rig>['host']) => Object.fromEntries(host.fakeVlans.bridges)
  /** The bridge in the definition of the first vm. */
  function bridgeIn(dir: string): string {
    const db = new Database(join(dir, 'fake.db'), { readonly: true })
    const sql = 'select definition from vms where workload = ?'
    const { definition } = db.query<{ definition: string }, [string]>(sql).get(workloadId(1))!
    db.close()
    return (JSON.parse(definition) as Vm).network.bridge
  }
  const restart = (host: ReturnType<typeof rig>['host']) =>
    startVms(host, new Supervision(host, (_, work) => work()), new AbortController().signal)

  test('hangs on the bridge of its VLAN, which is made for it and goes with the last vm', async () => {
    const { dir, host, obey, install } = rig({ uplink })
    await install(inVlan(1, 20))
    expect(bridgesOf(host)).toEqual({ bvb20: { vlan: 20, uplink: 'bond0' } })
    expect(bridgeIn(dir)).toBe('bvb20')
    await obey('seed.write', seedOf(2))
    await obey('volume.create', { volume: volumeOf(2), image: imageSource.id, sizeBytes: 2 * GiB })
    await obey('vm.define', inVlan(2, 20))
    await obey('vm.remove', { workload: workloadId(1) })
    expect(Object.keys(bridgesOf(host))).toEqual(['bvb20'])
    await obey('vm.remove', { workload: workloadId(2) })
    expect(bridgesOf(host)).toEqual({})
  })

  test('is on another bridge from its next start on when it is defined in another network', async () => {
    const { dir, host, obey, install } = rig({ uplink })
    await install(inVlan(1, 20))
    await obey('vm.define', inVlan(1, 31))
    expect(bridgeIn(dir)).toBe('bvb31')
    expect(Object.keys(bridgesOf(host))).toEqual(['bvb31'])
    await obey('vm.define', inVlan(1))
    expect(bridgeIn(dir)).toBe('br0')
    expect(bridgesOf(host)).toEqual({})
  })

  test('is not defined in a VLAN that the node does not carry', async () => {
    for (const settings of [{}, { uplink }]) {
      const { host, obey } = rig(settings)
      await obey('image.ensure', imageSource)
      await obey('volume.create', { volume: volumeOf(1), image: imageSource.id, sizeBytes: 2 * GiB })
      await obey('seed.write', seedOf(1))
      expect(obey('vm.define', inVlan(1, 40))).rejects.toMatchObject({ code: 'no_bridge' })
      expect(await host.hypervisor.power(workloadId(1))).toBe('absent')
      expect(bridgesOf(host)).toEqual({})
      expect(host.state.vlans()).toEqual([])
    }
  })

  test('has its bridge again after a boot, before it starts, also when the VLAN is not carried any more', async () => {
    const { dir, host, install } = rig({ uplink })
    await install(inVlan(1, 20))
    host.close()
    const booted = rig({ uplink: { name: 'bond1', vlans: '' }, bootId: 'second-boot' }, dir)
    const seen: string[][] = []
    const start = booted.host.hypervisor.start.bind(booted.host.hypervisor)
    booted.host.hypervisor.start = (workload) => {
      seen.push(Object.keys(bridgesOf(booted.host)))
      return start(workload)
    }
    await restart(booted.host)
    expect(seen).toEqual([['bvb20']])
    expect(bridgesOf(booted.host)).toEqual({ bvb20: { vlan: 20, uplink: 'bond1' } })
    // It can be defined anew, as for another order of its drives; another one cannot come.
    await booted.obey('vm.define', inVlan(1, 20))
    expect(booted.obey('vm.define', { ...inVlan(2, 20), seeded: false })).rejects.toMatchObject({ code: 'no_bridge' })
    expect(await booted.obey('vm.look', { workload: workloadId(1) })).toEqual({ power: 'running' })
  })

  test('does not keep other vms from starting when its bridge cannot be made', async () => {
    const { dir, host, install } = rig({ uplink })
    await install(inVlan(1, 20))
    host.close()
    const booted = rig({ uplink, bootId: 'second-boot' }, dir)
    booted.host.fakeVlans.apply = async () => new Map([[20, 'VLAN 20 of bond0 cannot be set up']])
    await restart(booted.host)
    expect(await booted.obey('vm.look', { workload: workloadId(1) })).toEqual({ power: 'running' })
  })

  test('a node tells its uplink, its bond, and the VLANs on it', async () => {
    const bond = { mode: 'active-backup', ports: [{ name: 'eno1', state: 'down' as const }] }
    const { host } = rig({ uplink: { ...uplink, bond } })
    expect((await host.facts()).uplink).toEqual({
      ...{ name: 'bond0', up: true, bond },
      vlans: [
        { first: 20, last: 20 },
        { first: 30, last: 39 },
      ],
    })
    expect('uplink' in (await rig().host.facts())).toBe(false)
  })
})

test('the restart policy of a vm is kept from the next moment on, and of no vm it is refused', async () => {
  const { host, obey, install } = rig()
  const workload = vmOf(1).workload
  const set = () => obey('vm.set-restart-policy', { workload, restartPolicy: 'never' })
  expect(set()).rejects.toMatchObject({ code: 'no_vm' })
  expect(host.state.wantedOne(workload)).toBeUndefined()
  await install(vmOf(1))
  await set()
  expect(host.state.wantedOne(workload)).toMatchObject({ restart: 'never' })
})

test('an extra volume has one vm at a time, stays over reboots, and is free without its vm', async () => {
  const { dir, host, obey, install } = rig()
  const [one, two] = [vmOf(1), vmOf(2, { volume: volumeOf(2) })]
  for (const vm of [one, two]) await install(vm)
  const volume = { workload: `vol_${'9'.repeat(26)}`, generation: 0, pool: 'local', format: 'qcow2' } as const
  const has = (of: typeof host) =>
    [one, two].map(({ workload }) => (of.hypervisor as FakeHypervisor).volumes(workload).length)
  const attach = (vm: Vm) => obey('volume.attach', { workload: vm.workload, volume })
  expect(attach(one)).rejects.toMatchObject({ code: 'no_volume' })
  await obey('volume.make', { volume, sizeBytes: GiB })
  await attach(one)
  expect(attach(two)).rejects.toMatchObject({ code: 'volume_in_use' })
  expect(obey('volume.remove', volume)).rejects.toMatchObject({ code: 'volume_in_use' })
  await obey('volume.detach', { workload: two.workload, volume })
  await obey('vm.define', one)
  await obey('volume.grow', { volume, sizeBytes: 2 * GiB })
  expect([has(host), await host.storage.pool('local').sizeBytes(volume)]).toEqual([[1, 0], 2 * GiB])
  host.close()

  const booted = rig({ bootId: 'second-boot' }, dir)
  await startVms(booted.host, new Supervision(booted.host, (_, work) => work()), new AbortController().signal)
  await booted.obey('vm.define', one)
  expect(has(booted.host)).toEqual([1, 0])
  // Its vm is removed, and comes back as a reinstallation that failed does it.
  await booted.obey('vm.remove', { workload: one.workload })
  await booted.obey('vm.define', { ...one, seeded: false })
  expect(has(booted.host)).toEqual([1, 0])
  await booted.obey('vm.remove', { workload: one.workload })
  await booted.obey('volume.attach', { workload: two.workload, volume })
  await booted.obey('vm.define', { ...one, seeded: false })
  expect(has(booted.host)).toEqual([0, 1])
  await booted.obey('volume.detach', { workload: two.workload, volume })
  await booted.obey('volume.remove', volume)
  expect(await booted.host.storage.list()).toEqual([one.volume, two.volume])
})

test('a speed is in force at once, stays over a restart of vm and host, and is refused for no vm', async () => {
  const { dir, host, obey, install } = rig()
  const { workload } = vmOf(1)
  const [slow, slower] = [
    { inMbps: 20, outMbps: 10, cpuPercent: 50 },
    { inMbps: 2, outMbps: null, cpuPercent: null },
  ]
  const inForce = (of: typeof host) => [
    (of.network as FakeNetwork).limits.get('bth1')?.speed,
    (of.hypervisor as FakeHypervisor).cpuPercent(workload),
  ]
  expect(obey('vm.set-speed', { workload, speed: slow })).rejects.toMatchObject({ code: 'no_vm' })
  await install(vmOf(1))
  await obey('vm.set-speed', { workload, speed: slow })
  expect(inForce(host)).toEqual([slow, 50])
  await obey('vm.stop', { workload, graceSeconds: 0 })
  await obey('vm.start', { workload })
  expect(inForce(host)).toEqual([slow, 50])
  await obey('vm.stop', { workload, graceSeconds: 0 })
  await obey('vm.set-speed', { workload, speed: slower })
  await obey('vm.start', { workload })
  expect(inForce(host)).toEqual([slower, null])
  host.close()
  const booted = rig({ bootId: 'second-boot' }, dir)
  await startVms(booted.host, new Supervision(booted.host, (_, work) => work()), new AbortController().signal)
  expect(inForce(booted.host)).toEqual([slower, null])
})

test('a private network gives its vms a card, which stays over definitions and boots until it is removed', async () => {
  const { dir, host, obey, install } = rig()
  const { workload } = vmOf(1)
  const network = {
    network: `net_${'1'.repeat(26)}`,
    vni: 5001,
    local: '10.9.0.1',
    peers: [{ address: '10.9.0.2', macs: [macOf(2)] }],
    ports: [{ workload, tap: 'btp1', mac: macOf(7), addresses: ['10.5.0.2/24'] }],
  }
  const cards = (of: typeof host) => (of.hypervisor as FakeHypervisor).nics(workload)
  await install(vmOf(1))
  expect(await obey('network.set', network)).toEqual({ waiting: [] })
  const card = { tap: 'btp1', mac: macOf(7), bridge: 'bpb5001', mtu: 1450 }
  expect(cards(host)).toEqual([card])
  await obey('vm.define', vmOf(1, { seeded: false }))
  expect(cards(host)).toEqual([card])
  host.close()
  const booted = rig({ bootId: 'second-boot' }, dir)
  await startVms(booted.host, new Supervision(booted.host, (_, work) => work()), new AbortController().signal)
  expect(cards(booted.host)).toEqual([card])
  await booted.obey('network.remove', { network: network.network })
  await booted.obey('network.remove', { network: network.network })
  expect(cards(booted.host)).toEqual([])
  expect(() => parseCommand('network.set', { ...network, vni: 0 })).toThrow('network.set')
})

test('S38: an id that could leave its directory is refused by every command', () => {
  for (const workload of ['../../etc/passwd', 'srv_1', `srv_${'0'.repeat(25)}/`, `SRV_${'0'.repeat(26)}`])
    expect(() => parseCommand('vm.look', { workload })).toThrow('vm.look')
})

describe('volume.create', () => {
  test('fails when the image does not fit into the pool, and leaves the other disks alone', async () => {
    const { host, obey } = rig({ poolBytes: 2.5 * GiB })
    await obey('image.ensure', imageSource)
    await obey('volume.create', { volume: volumeOf(1), image: imageSource.id, sizeBytes: 2 * GiB })
    const next = volumeOf(1, 'qcow2', 1)
    expect(obey('volume.create', { volume: next, image: imageSource.id, sizeBytes: 2 * GiB })).rejects.toMatchObject({
      code: 'pool_full',
    })
    await Bun.sleep(0)
    expect(await host.storage.list()).toEqual([volumeOf(1)])
    // The disk that exists is still created again without effect.
    expect(await obey('volume.create', { volume: volumeOf(1), image: imageSource.id, sizeBytes: 2 * GiB })).toEqual({
      checksum: imageSource.checksum,
    })
  })
})

describe('vm.await', () => {
  test('ends early with `off` when the vm stops', async () => {
    const { host, obey, install } = rig({ bootMs: 60_000 })
    const began = Date.now()
    const { workload } = vmOf(1)
    const installed = install(vmOf(1))
    while ((await obey('vm.look', { workload })).power !== 'running') await Bun.sleep(5)
    await host.hypervisor.stop(workload, 0)
    expect(
      (await Promise.all([installed, obey('vm.await', { workload, address: null, limitSeconds: 30 })]))[1],
    ).toEqual({ answered: 'off' })
    expect(Date.now() - began).toBeLessThan(20_000)
  }, 60_000)
})

test('a vm goes back to its old disk when a second one did not work', async () => {
  const { host, obey, install, dir } = rig()
  const { workload } = vmOf(1)
  await install(vmOf(1))
  await obey('seed.remove', { workload })
  const next = volumeOf(1, 'qcow2', 1)
  await obey('volume.create', { volume: next, image: imageSource.id, sizeBytes: 2 * GiB })
  await obey('vm.stop', { workload, graceSeconds: 0 })
  await obey('seed.write', seedOf(1))
  await obey('vm.define', vmOf(1, { volume: next }))
  await obey('vm.start', { workload })

  await obey('vm.stop', { workload, graceSeconds: 0 })
  await obey('vm.define', vmOf(1, { seeded: false }))
  await obey('seed.remove', { workload })
  await obey('volume.remove', next)
  await obey('vm.start', { workload })
  expect(await host.storage.list()).toEqual([volumeOf(1)])
  expect(await host.seeds.path(workloadId(1))).toBeUndefined()
  host.close()
  const booted = rig({ bootId: 'second-boot' }, dir)
  await startVms(booted.host, new Supervision(booted.host, (_, work) => work()), new AbortController().signal)
  expect(await booted.obey('vm.look', { workload })).toEqual({ power: 'running' })
})

test('a vm is not defined without its seed, with an unknown ISO, or on an unknown bridge', async () => {
  const { host, obey } = rig()
  await obey('image.ensure', imageSource)
  await obey('volume.create', { volume: volumeOf(1), image: imageSource.id, sizeBytes: 2 * GiB })
  const define = (more: Partial<Vm>) => obey('vm.define', vmOf(1, more))
  const iso = `iso_${'1'.repeat(26)}`
  expect(define({})).rejects.toMatchObject({ code: 'no_seed' })
  expect(define({ seeded: false, iso })).rejects.toMatchObject({ code: 'no_iso' })
  const network = { ...vmOf(1).network, bridge: 'br7' }
  expect(define({ seeded: false, network })).rejects.toMatchObject({ code: 'no_bridge' })
  expect(await host.hypervisor.power(workloadId(1))).toBe('absent')
})
