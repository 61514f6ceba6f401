// A disk that is copied to another node by `transfer.copy`, beside qemu-img over SSH's own forwarding of the same
// sockets, in turns: two nodes in namespaces, one disk of random bytes, the same cipher. As root.
//
//   bun test/bench/servers/move.ts [--mib 512] [--rounds 3]
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { volumeOf } from '../../agent/examples.ts'
import { addresses, runs, transferLab } from '../../support/nodes/transfer-lab.ts'
import { flags, median, say } from '../words.ts'

const { mib, rounds } = flags('Measures the copy of a disk between two nodes.', { mib: 512, rounds: 3 })
const MiB = 2 ** 20
const lab = await transferLab()
const content = Buffer.alloc(mib * MiB)
for (let at = 0; at < content.length; at += 65_536) crypto.getRandomValues(content.subarray(at, at + 65_536))

async function must(...command: string[]) {
  const { code, out, err } = await runs(command)
  if (code !== 0) throw new Error(`${command.join(' ')}: ${err}`)
  return out
}
async function seconds(work: () => Promise<unknown>) {
  const began = performance.now()
  await work()
  return (performance.now() - began) / 1000
}

/** An operator's own key, which may forward. */
const key = join(lab.a.dir, 'operator')
await must('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', key)
writeFileSync(join(lab.b.dir, 'libvirt/root-ssh/authorized_keys'), await Bun.file(`${key}.pub`).text())
const ssh = [
  ...[
    'ssh',
    '-F',
    'none',
    '-o',
    'StrictHostKeyChecking=no',
    '-o',
    'UserKnownHostsFile=/dev/null',
    '-o',
    'LogLevel=ERROR',
  ],
  ...['-c', 'aes128-gcm@openssh.com', '-i', key],
]
const byHand: number[] = []
const ours: number[] = []
try {
  for (let n = 1; n <= rounds; n++) {
    const volume = volumeOf(n, 'raw')
    lab.a.writeDisk(volume, content)
    const [near, far, file] = [`/run/near-${n}.sock`, `/run/far-${n}.sock`, join(lab.b.dir, `bare-${n}.raw`)]
    await must('truncate', '--size', `${mib}M`, file)
    const holes = ['--discard=unmap', '--detect-zeroes=unmap']
    await must(...lab.b.inside, 'qemu-nbd', '-f', 'raw', '-x', 'disk', '-k', far, '--fork', ...holes, file)
    byHand.push(
      await seconds(async () => {
        const forward = [...ssh, '-f', '-L', `${near}:${far}`, `root@${addresses.b}`, 'sleep 60']
        // In the background it keeps its output open.
        await must(...lab.a.inside, 'sh', '-c', '"$@" >/dev/null 2>&1', 'sh', ...forward)
        const convert = ['qemu-img', 'convert', '-n', '-W', '-m', '16', '--target-is-zero', '-f', 'raw', '-O', 'raw']
        await must(...lab.a.inside, ...convert, lab.a.pathOf(volume), `nbd+unix:///disk?socket=${near}`)
      }),
    )
    const ids = { transfer: `trf_${String(n).padStart(26, '0')}`, workload: volume.workload }
    const { publicKey } = await lab.a.agent.obey('transfer.key', ids)
    const listening = await lab.b.agent.obey('transfer.receive', {
      ...{ ...ids, from: [addresses.a], publicKey, by: 'copy', expiresAt: Date.now() + 600_000 },
      disks: [{ volume, sizeBytes: content.length }],
    })
    const to = { address: addresses.b, ...listening }
    ours.push(await seconds(() => lab.a.agent.obey('transfer.copy', { ...ids, to, disks: [volume], maxMbps: null })))
    for (const { agent } of [lab.a, lab.b]) await agent.obey('transfer.end', ids)
    await must('rm', file, lab.b.pathOf(volume), lab.a.pathOf(volume))
  }
  const [bare, agent] = [median(byHand), median(ours)]
  say(`${mib} MiB: by hand ${bare.toFixed(2)} s, by the agent ${agent.toFixed(2)} s with its sessions and flush`)
  say(`throughput ${(bare / agent).toFixed(2)} of the bare tool`)
} finally {
  await lab.end()
}
process.exit()
