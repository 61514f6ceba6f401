// The sockets of a vm's screen and serial line, on the fake host and on libvirt.
import { Database } from 'bun:sqlite'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { connectStream } from '../../../agent/console/unix-stream.ts'
import type { Consoles } from '../../../agent/drivers/console/consoles.ts'
import { FakeConsoles } from '../../../agent/drivers/console/fake.ts'
import { LibvirtConsoles, makeSerialDir, serialFiles } from '../../../agent/drivers/console/libvirt.ts'
import { domainXml } from '../../../agent/drivers/hypervisor/domain-xml.ts'
import { FakeHypervisor } from '../../../agent/drivers/hypervisor/fake.ts'
import type { Hypervisor } from '../../../agent/drivers/hypervisor/hypervisor.ts'
import { Libvirt } from '../../../agent/drivers/hypervisor/libvirt.ts'
import { FakePool } from '../../../agent/drivers/storage/fake.ts'
import type { Disk } from '../../../agent/drivers/storage/storage.ts'
import { run } from '../../../agent/host/exec.ts'
import type { Vm } from '../../../agent/protocol/wire.ts'
import { vmOf, volumeOf } from '../../agent/examples.ts'
import { temporary } from '../../agent/temporary.ts'
import { missing, note } from '../tools.ts'

type Rig = { consoles: Consoles; hypervisor: Hypervisor; vm: Vm; disk: Disk }

function consolesContract(rig: () => Promise<Rig>) {
  test('a vm that is off, or is not there, has no console', async () => {
    const { consoles, hypervisor, vm, disk } = await rig()
    for (const kind of ['vnc', 'serial'] as const)
      expect(consoles.socket(vm.workload, kind)).rejects.toMatchObject({ code: 'not_running' })
    await hypervisor.define(vm, disk, undefined)
    for (const kind of ['vnc', 'serial'] as const)
      await expect(consoles.socket(vm.workload, kind)).rejects.toMatchObject({ code: 'not_running' })
    await hypervisor.remove(vm.workload)
    await consoles.forget(vm.workload)
  })
  test('a vm that runs has a screen that speaks RFB and a serial line, until it ends', async () => {
    const { consoles, hypervisor, vm, disk } = await rig()
    await hypervisor.define(vm, disk, undefined)
    await hypervisor.start(vm.workload)
    let said = ''
    const ended = Promise.withResolvers<void>()
    const screen = await connectStream(await consoles.socket(vm.workload, 'vnc'), {
      data: (bytes) => void (said += bytes.toString('latin1')),
      closed: () => ended.resolve(),
    })
    while (said.length < 12) await Bun.sleep(5)
    expect(said).toBe('RFB 003.008\n')
    const line = await connectStream(await consoles.socket(vm.workload, 'serial'), { data() {}, closed() {} })
    expect(line.write(Buffer.from('x'))).toBe(true)
    expect((await consoles.tail(vm.workload, 1000)).length).toBeLessThanOrEqual(1000)
    line.end()
    screen.end()
    await ended.promise
    await hypervisor.remove(vm.workload)
    await consoles.forget(vm.workload)
    await consoles.forget(vm.workload)
    await expect(consoles.socket(vm.workload, 'vnc')).rejects.toMatchObject({ code: 'not_running' })
  }, 60_000)
}

describe('the fake host', () => {
  const dir = temporary('consoles')
  afterAll(() => rmSync(dir, { recursive: true, force: true }))
  consolesContract(async () => {
    const db = new Database(':memory:')
    const hypervisor = new FakeHypervisor(db)
    const pool = new FakePool(db, 'local', 2e12)
    await pool.create(volumeOf(1), { id: 'img_1', format: 'qcow2', path: '/fake', virtualSizeBytes: 1 }, 1e9)
    const disk = await pool.disk(volumeOf(1))
    return { consoles: new FakeConsoles(dir, hypervisor.power), hypervisor, vm: vmOf(1), disk }
  })
})

describe.skipIf(note(await missing('virsh', 'qemu-img', 'qemu-system-x86_64', 'ip'), 'consoles of libvirt'))(
  'libvirt',
  () => {
    const bridge = `brc${process.pid}`.slice(0, 15)
    const dir = temporary('consoles')
    const serialDir = join(dir, 'serial')
    let n = process.pid * 100 + 50
    const hypervisor = new Libvirt(async () => 'emulation', serialDir)
    let vm: Vm
    /** Nothing of a vm stays, also when its test failed or took too long. */
    afterEach(() => hypervisor.remove(vm.workload))
    beforeAll(async () => {
      mkdirSync(dir, { recursive: true })
      makeSerialDir(serialDir)
      await run('ip', ['link', 'add', bridge, 'type', 'bridge'])
    })
    afterAll(async () => {
      await run('ip', ['link', 'del', bridge])
      rmSync(dir, { recursive: true, force: true })
    })
    const rig = async () => {
      n++
      const path = join(dir, `${n}.qcow2`)
      await run('qemu-img', ['create', '-q', '-f', 'qcow2', '--', path, '1M'])
      const network = { bridge, tap: `bth${n}`, mac: '52:54:00:12:34:57', portMbps: null }
      vm = vmOf(n, { memoryMb: 64, network })
      return {
        consoles: new LibvirtConsoles(serialDir),
        hypervisor,
        vm,
        disk: { kind: 'file', path, format: 'qcow2' } as const,
      }
    }
    consolesContract(rig)

    test('nobody but root can reach a serial line, and nothing of it stays when the vm is removed', async () => {
      const { consoles, hypervisor, vm, disk } = await rig()
      await hypervisor.define(vm, disk, undefined)
      await hypervisor.start(vm.workload)
      expect((statSync(serialDir).mode & 0o777).toString(8)).toBe('700')
      const { socket, log } = serialFiles(serialDir, vm.workload)
      expect([existsSync(socket), existsSync(log)]).toEqual([true, true])
      await hypervisor.remove(vm.workload)
      await consoles.forget(vm.workload)
      expect(readdirSync(serialDir).filter((name) => name.startsWith(vm.workload))).toEqual([])
    })
    test('a vm that was defined before consoles has a serial line from its next start on', async () => {
      const { consoles, hypervisor, vm, disk } = await rig()
      const old = domainXml(vm, disk, undefined, 'emulation')
      expect(old).toContain('<serial type="pty">')
      await run('virsh', ['-c', 'qemu:///system', 'define', '--file', '/dev/stdin'], { stdin: old })
      await hypervisor.start(vm.workload)
      expect(await consoles.socket(vm.workload, 'serial')).toBe(serialFiles(serialDir, vm.workload).socket)
      const { out } = await run('virsh', ['-c', 'qemu:///system', 'dumpxml', vm.workload])
      expect(out.match(/<serial /g)).toHaveLength(1)
      await hypervisor.remove(vm.workload)
      await consoles.forget(vm.workload)
    })
    test('a vm that was started before has a screen, and is told to have no serial line', async () => {
      const { hypervisor, vm, disk } = await rig()
      await hypervisor.define(vm, disk, undefined)
      await hypervisor.start(vm.workload)
      const elsewhere = new LibvirtConsoles(dir)
      expect(await elsewhere.socket(vm.workload, 'vnc')).toStartWith('/')
      await expect(elsewhere.socket(vm.workload, 'serial')).rejects.toMatchObject({ code: 'no_serial_line' })
      await hypervisor.remove(vm.workload)
    })
  },
)
