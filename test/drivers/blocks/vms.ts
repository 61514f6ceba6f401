// Two vms of one owner on a pool, by the commands of the agent and against libvirt.
import { expect } from 'bun:test'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseCommand } from '../../../agent/commands/index.ts'
import { atLayer } from '../../../agent/drivers/storage/storage.ts'
import { run } from '../../../agent/host/exec.ts'
import { type BackupTarget, LOCAL_MARKER } from '../../../agent/protocol/backup.ts'
import type { CommandName, Input, Output, Volume } from '../../../agent/protocol/wire.ts'
import { unlimited, vmOf, volumeOf, workloadId } from '../../agent/examples.ts'
import { temporary } from '../../agent/temporary.ts'
import { openLabHost } from '../../support/nodes/lab-host.ts'
import { eventually } from '../../support/waiting/eventually.ts'

/** `entry`: the pool in pools.json, without its name. */
export type Setting = { entry: object; format: Volume['format']; close?(): Promise<unknown> }
export type Vms = Awaited<ReturnType<typeof openVms>>

/** Opens a host with the pool alone. `diskOf`, `volumeOf`, `defined`: of the vm 0 or 1. */
export async function openVms({ entry, format, close }: Setting) {
  const n = (process.pid % 20_000) * 2
  const workloads = [workloadId(n), workloadId(n + 1)] as const
  const bridge = `brv${n}`
  const dir = temporary('vms')
  const pools = join(dir, 'pools.json')
  writeFileSync(pools, JSON.stringify({ pools: [{ ...entry, name: 'local' }] }))
  process.env['PANEL_AGENT_POOLS'] = pools
  const host = openLabHost(join(dir, 'data'))
  const target: BackupTarget = {
    ...{ kind: 'local', address: join(dir, 'place'), login: '', secret: '', trust: '' },
    ...{ repository: 'usr_1', password: 'password-of-the-account' },
  }
  mkdirSync(target.address)
  writeFileSync(join(target.address, LOCAL_MARKER), '')
  await run('ip', ['link', 'add', bridge, 'type', 'bridge'])

  const told = (what: string, began: number) =>
    process.stderr.write(`  ${what.padEnd(18)} ${Math.round(performance.now() - began)} ms\n`)
  const diskOf = (of: 0 | 1) => volumeOf(n + of, format)
  return {
    host,
    pool: host.storage.pool('local'),
    workloads,
    target,
    told,
    diskOf,
    volumeOf: (of: 0 | 1): Volume => ({ ...diskOf(of), workload: `vol_${String(n + of).padStart(26, '0')}` }),
    defined: (of: 0 | 1, layer = 0) =>
      vmOf(n + of, {
        volume: atLayer(diskOf(of), layer),
        seeded: false,
        speed: unlimited,
        network: { bridge, tap: `bth${n + of}`, mac: `52:54:00:79:00:0${1 + of}` },
      }),
    async obey<N extends CommandName>(name: N, input: Input<N>): Promise<Output<N>> {
      const began = performance.now()
      const output = (await parseCommand(name, input).work(host)) as Output<N>
      told(name, began)
      return output
    },
    start: (workload: string) => host.backupRuns.whileStarting(workload, () => host.hypervisor.start(workload)),
    /** As a power failure of its process alone. */
    async killQemu(workload: string) {
      process.kill(Number(readFileSync(`/run/libvirt/qemu/${workload}.pid`, 'utf8')), 'SIGKILL')
      await eventually(async () => (await host.hypervisor.power(workload)) === 'crashed', 60)
      expect(await host.hypervisor.power(workload)).toBe('crashed')
    },
    async close() {
      delete process.env['PANEL_AGENT_POOLS']
      for (const workload of workloads) await host.hypervisor.remove(workload).catch(() => {})
      await run('ip', ['link', 'del', bridge], { mayFail: true })
      for (const one of await host.storage.list()) await host.storage.pool('local').remove(one)
      host.close()
      await close?.()
    },
  }
}
