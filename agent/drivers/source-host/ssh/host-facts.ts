// A source hypervisor as it describes itself.
import { fitted } from '../../../protocol/bounds.ts'
import { SourceHostFacts } from '../../../protocol/values/source-hosts.ts'
import { prelude } from './marks.ts'

const MEASURED_MB = 32
const BITS = 8
const NANOSECONDS_PER_SECOND = 1e9

export const hostScript = (nonce: string): string => `${prelude(nonce)}
version() { command -v "$1" >/dev/null && "$@" 2>&1 | head -n 1; }
main() {
  mark hostname; hostname || uname -n
  mark os; sed -n 's/^PRETTY_NAME=//p' /etc/os-release | tr -d '"'; head -n 1 /etc/redhat-release
  mark kernel; uname -r
  mark arch; uname -m
  mark now; date +%s
  mark cpu; sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1
  mark threads; grep -c '^processor' /proc/cpuinfo
  mark memory; sed -n 's/^MemTotal: *\\([0-9]*\\) kB/\\1/p' /proc/meminfo
  mark libvirt; limited 20 virsh -r -c qemu:///system version 2>&1 | head -n 20
  mark qemuImg; version qemu-img --version
  mark ssh; ssh -V 2>&1 | head -n 1
  mark dd; version dd --version
  mark sha1sum; version sha1sum --version
  mark lvm; version lvs --version
  mark zfs; head -n 1 /sys/module/zfs/version
  mark python; version python3 -V || version python -V || version python2 -V
  mark containers
  [ -d /proc/vz ] && printf 'openvz\\n'
  command -v lxc-ls >/dev/null && printf 'lxc\\n'
  mark files; limited 10 df -P -k -l | head -n 60
  mark groups; command -v vgs >/dev/null &&
    limited 20 vgs --noheadings --nosuffix --units b --separator '|' -o vg_name,vg_size,vg_free | head -n 60
  mark pools; command -v zpool >/dev/null && limited 20 zpool list -H -p -o name,size,free | head -n 60
  mark hash
  date +%s%N
  dd if=/dev/zero bs=1048576 count=${MEASURED_MB} | sha1sum >/dev/null
  date +%s%N
  mark end
}
main </dev/null 2>/dev/null
`

/** Temporary file systems hold no disks. */
const NO_DISKS = /^(tmpfs|devtmpfs|udev|none|overlay|shm|efivarfs|\/dev\/loop)/

export function factsFrom(sections: ReadonlyMap<string, string>, linkMbps: number | null): SourceHostFacts {
  const first = (name: string) => sections.get(name)?.trim().split('\n')[0]?.trim() ?? ''
  const rows = (name: string) => (sections.get(name) ?? '').split('\n').map((line) => line.trim())
  const number = (text: string | undefined) => (text && /^\d{1,15}$/.test(text) ? Number(text) : 0)
  const libvirt = sections.get('libvirt') ?? ''
  const found = (pattern: RegExp) => pattern.exec(libvirt)?.[1] ?? null
  const said = (name: string) => first(name) || null
  const files = rows('files').flatMap((line) => {
    const [, device = '', total, free, name] = /^(\S+) +(\d+) +\d+ +(\d+) +\S+ +(\/.*)$/.exec(line) ?? []
    return name === undefined || NO_DISKS.test(device)
      ? []
      : [space('file', name, number(free) * 1024, number(total) * 1024)]
  })
  const listed = (kind: 'lvm' | 'zfs', section: string, separator: string) =>
    rows(section).flatMap((line) => {
      const [name, total, free] = line.split(separator)
      return name && free !== undefined ? [space(kind, name, number(free), number(total))] : []
    })
  return fitted(SourceHostFacts, {
    ...{ hostname: first('hostname'), os: first('os'), kernel: first('kernel'), arch: first('arch') },
    now: number(first('now')) * 1000,
    cpu: { model: first('cpu'), threads: number(first('threads')) },
    memoryMb: Math.round(number(first('memory')) / 1024),
    tools: {
      libvirt: found(/[Ll]ibrary: libvirt ([0-9.]+)/),
      qemu: found(/[Hh]ypervisor: QEMU ([0-9.]+)/),
      ...{ qemuImg: said('qemuImg'), ssh: said('ssh'), dd: said('dd'), sha1sum: said('sha1sum') },
      ...{ lvm: said('lvm'), zfs: said('zfs'), python: said('python') },
    },
    libvirtAnswers: found(/[Hh]ypervisor: (\S+)/) !== null,
    containers: rows('containers').filter((kind) => kind === 'openvz' || kind === 'lxc'),
    space: [...files, ...listed('lvm', 'groups', '|'), ...listed('zfs', 'pools', '\t')],
    hashMbps: hashSpeed(rows('hash')),
    linkMbps,
  })
}

const space = (kind: 'file' | 'lvm' | 'zfs', name: string, freeBytes: number, totalBytes: number) => ({
  ...{ kind, name, freeBytes, totalBytes },
})

/** Between two moments in nanoseconds, which not every `date` tells. */
function hashSpeed(rows: readonly string[]): number | null {
  const [began = '', ended = ''] = rows.filter((line) => line !== '')
  if (!/^\d{19}$/.test(began) || !/^\d{19}$/.test(ended)) return null
  const seconds = (Number(ended) - Number(began)) / NANOSECONDS_PER_SECOND
  return seconds > 0 ? Math.round((MEASURED_MB * BITS * 1.048576) / seconds) : null
}
