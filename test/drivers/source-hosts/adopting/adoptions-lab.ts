// A node that is the hypervisor of another panel itself, with real domains whose disks are files. `at` does something
// at a command of virsh's.
import { join } from 'node:path'
import type { SourceDisk } from '../../../../agent/protocol/values/source-hosts.ts'
import { volumeOf } from '../../../agent/examples.ts'
import { NodeProcess } from '../../../support/nodes/nodes.ts'
import { bootDisk, domainXml } from '../../../support/source-hypervisors/domains.ts'
import { sourceLab } from '../../../support/source-hypervisors/lab.ts'
import type { Adoptee, AdoptionsRig } from './adoptions-contract.ts'

const MiB = 1 << 20
const uuid = (n: number) => `6f9d3c4e-2f0b-4f0e-9a54-${String(n).padStart(12, '0')}`
const states: Record<string, string> = { 'shut off': 'off', running: 'running' }
/** In the place of virsh: does what the test wants at one command, once, which has this word. */
const WRAPPER = `#!/bin/sh
word=$(cat /var/tmp/at 2>/dev/null)
[ -n "$word" ] && case " $* " in *" $word "*)
  rm /var/tmp/at
  . /var/tmp/does
;; esac
exec /usr/bin/virsh "$@"
`

export type AdoptionsLab = Awaited<ReturnType<typeof adoptionsLab>>
export async function adoptionsLab(prefix: string) {
  const lab = await sourceLab(['a'], prefix)
  const host = lab.hypervisors[0]!
  await host.write('/usr/local/bin/virsh', WRAPPER, '755')
  const start = () => new NodeProcess(host.inside, join(host.dir, 'agent'))
  let node = start()
  let made = 0

  const exists = async (path: string) => (await host.run('test', '-e', path)).code === 0
  const pathOf = ({ volume: { workload, generation, format } }: Pick<Adoptee, 'volume'>) =>
    join(host.dir, 'agent/pools/local', `${workload}-${generation}.${format}`)
  /** `folder`: of its disk. */
  const server = async (kind: 'transient' | 'persistent', folder = join(host.dir, 'images')): Promise<Adoptee> => {
    const n = ++made
    const name = kind === 'transient' ? uuid(n) : `v${n}`
    const format = n % 2 ? ('qcow2' as const) : ('raw' as const)
    const path = join(folder, String(n), '0')
    await bootDisk(host, path, format, 16 * MiB)
    const xml = domainXml({ name, uuid: uuid(n), drives: [{ path, format }] })
    await host.domain(kind === 'transient' ? 'create' : 'define', xml)
    if (kind === 'persistent') await host.virsh('start', name)
    // Until it listens to its power button.
    await Bun.sleep(1500)
    const drive: SourceDisk = { path, format, holder: 'file', virtualBytes: 16 * MiB, backing: null }
    return { domain: name, drive, volume: volumeOf(n, format) }
  }
  const rig: AdoptionsRig = {
    obey: (name, input) => node.obey(name, input),
    server: (kind) => server(kind),
    async state(domain) {
      const { out, code } = await host.run('/usr/bin/virsh', '-q', '-c', 'qemu:///system', 'domstate', domain)
      return code === 0 ? (states[out.trim()] ?? out.trim()) : 'absent'
    },
    async content(one) {
      const path = (await exists(one.drive.path)) ? one.drive.path : pathOf(one)
      return (await host.must('sha256sum', path)).split(' ')[0]!
    },
    isAtSource: ({ drive }) => exists(drive.path),
    power: async (domain) => void (await host.virsh('start', domain)),
  }
  return {
    host,
    rig,
    server,
    exists,
    pathOf,
    /** Does it at the next command of virsh's with this word. */
    async at(word: string, does: string) {
      await host.write('/var/tmp/does', `${does}\n`)
      await host.write('/var/tmp/at', word)
    },
    definitionOf: (domain: string) => host.virsh('dumpxml', '--inactive', domain),
    info: async (domain: string) =>
      (await host.virsh('dominfo', domain)).split('\n').filter((line) => /^(Persistent|Autostart|UUID)/.test(line)),
    pidOfNode: async () => (await host.must('pgrep', '-f', '^[^ ]*bun.* [^ ]*obey.ts ')).trim().split('\n').at(-1)!,
    startNode() {
      node = start()
    },
    async end() {
      await node.end()
      await lab.end()
    },
  }
}
