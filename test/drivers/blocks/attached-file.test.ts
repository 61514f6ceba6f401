// Open disks and volumes in a pool of files: BERTH_LONG=1.
import { describe } from 'bun:test'
import { join } from 'node:path'
import { temporary } from '../../agent/temporary.ts'
import { missing, note } from '../tools.ts'
import { attachedContract } from './attached.contract.ts'

const absent =
  process.env['BERTH_LONG'] === '1'
    ? await missing('virsh', 'qemu-img', 'qemu-system-x86_64', 'restic', 'nbdcopy', 'ip')
    : 'BERTH_LONG is not 1'

describe.skipIf(note(absent, 'open disks in files'))('open disks in files', () => {
  attachedContract(async () => ({ entry: { kind: 'file', path: join(temporary('files'), 'pool') }, format: 'qcow2' }))
})
