// `kill -9` of an agent while a snapshot is deleted under a running vm, on libvirt and QEMU: whatever the moment, the
// same command again ends with one disk that holds what was written last. virsh of the agent that dies is one that is
// slow, or that stops, at the moment of the test; it exists in a mount namespace of that agent alone.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { uuidOf } from '../../../agent/drivers/hypervisor/domain-xml.ts'
import { Libvirt } from '../../../agent/drivers/hypervisor/libvirt.ts'
import { FilePool } from '../../../agent/drivers/storage/file.ts'
import { localPoolRoot } from '../../../agent/drivers/storage/pools-file.ts'
import { atLayer } from '../../../agent/drivers/storage/storage.ts'
import { find, run } from '../../../agent/host/exec.ts'
import type { Vm } from '../../../agent/protocol/wire.ts'
import { vmOf, volumeOf, workloadId } from '../../agent/examples.ts'
import { temporary } from '../../agent/temporary.ts'
import { must } from '../../support/guest.ts'
import { NodeProcess } from '../../support/nodes/nodes.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import { missing, note } from '../tools.ts'

const MIB = 1024 ** 2
const DATA_MIB = 24
/** At 4 MiB a second the commit of the data takes six seconds. */
const moments = {
  'while it copies, and virsh goes on': 'start "$real" "$@" --bandwidth 4',
  'when all is copied, before the vm takes the lower layer': 'halt all_but_pivot "$@"',
  ...(process.env['BERTH_LONG'] === '1' && {
    'while it copies, and virsh with it': 'start "$real" "$@" --bandwidth 4',
    'when the vm has taken the lower layer': 'halt "$real" "$@"',
  }),
}

const reason =
  (await missing('virsh', 'qemu-img', 'qemu-system-x86_64', 'ip')) ??
  (Bun.which('qemu-io') && Bun.which('unshare') ? undefined : 'no qemu-io or unshare')

describe.skipIf(note(reason, 'a kill during the deletion of a snapshot'))('an agent that is killed', () => {
  const bridge = `brk${process.pid}`.slice(0, 15)
  const dir = temporary('kill')
  const hypervisor = new Libvirt(async () => 'emulation', join(dir, 'serial'))
  const pool = new FilePool('local', localPoolRoot(dir))
  let n = process.pid * 100 + 80
  const reached = join(dir, 'reached')
  const nodes: NodeProcess[] = []
  const node = (start: readonly string[] = []) => {
    const one = new NodeProcess(start, dir)
    nodes.push(one)
    return one
  }
  const killVirsh = () => {
    if (!existsSync(reached)) return
    const pid = Number(readFileSync(reached, 'utf8'))
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It has ended.
    }
    rmSync(reached)
  }
  beforeAll(async () => {
    // It makes its directory.
    await pool.list()
    await run('ip', ['link', 'add', bridge, 'type', 'bridge'])
  })
  afterEach(async () => {
    for (const one of nodes.splice(0)) await one.end()
    killVirsh()
    await hypervisor.remove(workloadId(n))
  })
  afterAll(async () => {
    await run('ip', ['link', 'del', bridge])
    rmSync(dir, { recursive: true, force: true })
  })

  /** The start of an agent whose `virsh blockcommit` does `how`. */
  function withVirsh(how: string): string[] {
    const [own, real] = [join(dir, 'virsh'), join(dir, 'virsh.real')]
    writeFileSync(
      own,
      `#!/bin/bash
real=${real}
case " $* " in *" blockcommit "*) ;; *) exec "$real" "$@" ;; esac
# The commit begins before the mark.
start() { "$@" & echo $! >${reached}.part; sleep 0.5; mv ${reached}.part ${reached}; wait; }
halt() { "$@"; echo $$ >${reached}; exec sleep 60; }
all_but_pivot() { args=(); for arg; do [ "$arg" = --pivot ] || args+=("$arg"); done; "$real" "\${args[@]}"; }
${how}
`,
    )
    chmodSync(own, 0o755)
    const bind = `cp ${find('virsh')} ${real} && mount --bind ${own} ${find('virsh')} && exec "$@"`
    return ['unshare', '--mount', 'sh', '-c', bind, 'sh']
  }

  for (const [moment, how] of Object.entries(moments))
    test(`${moment}, loses nothing, and the same command again deletes it`, async () => {
      n++
      const [lower, upper] = [volumeOf(n), atLayer(volumeOf(n), 1)]
      const [first, second] = [await pool.disk(lower), await pool.disk(upper)]
      const network = { bridge, tap: `bth${n}`, mac: '52:54:00:12:34:58' }
      const vmAt = (volume: Vm['volume']) => vmOf(n, { memoryMb: 64, network, volume, seeded: false })
      await run('qemu-img', ['create', '-q', '-f', 'qcow2', '--', first.path, `${2 * DATA_MIB}M`])
      await pool.fork(upper, 0, 2 * DATA_MIB * MIB)
      await must('qemu-io', '-f', 'qcow2', '-c', `write -P 98 0 ${DATA_MIB}M`, second.path)
      await hypervisor.define(vmAt(upper), second, undefined)
      await hypervisor.start(workloadId(n))
      expect(await hypervisor.layers(workloadId(n))).toEqual([second.path, first.path])

      const merge = (by: NodeProcess) => by.obey('volume.merge', { vm: vmAt(lower), from: 1, into: 0 })
      const dying = node(withVirsh(how))
      const answered = merge(dying).then(
        () => true,
        () => false,
      )
      await eventually(() => existsSync(reached), 30)
      expect(existsSync(reached)).toBe(true)
      await dying.end()
      expect(await answered).toBe(false)
      if (!moment.includes('virsh goes on')) killVirsh()

      const next = node()
      for (const _ of [1, 2]) await merge(next)
      expect(await hypervisor.power(workloadId(n))).toBe('running')
      expect([await hypervisor.layers(workloadId(n)), existsSync(second.path)]).toEqual([[first.path], false])
      expect(await must('virsh', '-c', 'qemu:///system', 'dumpxml', '--inactive', uuidOf(workloadId(n)))).not.toContain(
        second.path,
      )
      await hypervisor.stop(workloadId(n), 0)
      const read = await must('qemu-io', '-f', 'qcow2', '-c', `read -P 98 0 ${DATA_MIB}M`, first.path)
      expect(read).not.toContain('verification failed')
      await must('qemu-img', 'check', '-q', first.path)
    }, 60_000)
})
