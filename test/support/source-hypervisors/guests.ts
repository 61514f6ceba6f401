// A real guest at a hypervisor of another panel: the tiny Linux, with an address that its seed gives it.
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { seedFiles } from '../../../agent/drivers/seed/seed.ts'
import { guestImage, must } from '../guest.ts'
import { domainXml } from './domains.ts'
import type { SourceHypervisor } from './lab.ts'

export type SourceGuest = {
  /** The name of its domain, which is its UUID where the panel has none. */
  domain: string
  uuid?: string
  mac: string
  /** With its prefix length. */
  address: string
  gateway: string
  publicKey: string
  /** Where its disk is, and its format there. */
  path: string
  format: 'raw' | 'qcow2'
  /** `create`: a transient domain; `define`: one that stays when it is off. */
  how: 'create' | 'define'
}

const MEMORY_KIB = 128 << 10
const DISK_BYTES = 1 << 30

/** Makes its disk and its seed, and starts it. Its system answers some seconds later. */
export async function startGuest(source: SourceHypervisor, guest: SourceGuest) {
  const { domain, uuid, mac, path, format, how } = guest
  const dir = join(source.dir, domain)
  mkdirSync(dir)
  const disk = join(dir, 'disk')
  if (format === 'qcow2') copyFileSync(guestImage, disk)
  else await must('qemu-img', 'convert', '-f', 'qcow2', '-O', 'raw', guestImage, disk)
  await must('qemu-img', 'resize', '-q', '-f', format, disk, String(DISK_BYTES))
  await source.must('install', '-D', '-m', '644', disk, path)
  const seed = `${path}-cloud-init.iso`
  await source.must('install', '-D', '-m', '644', await seedOf(dir, guest), seed)
  const drives = [{ path, format }, { path: seed, device: 'cdrom', bus: 'ide', isReadOnly: true } as const]
  const xml = domainXml({ name: domain, ...(uuid && { uuid }), mac, drives, memoryKib: MEMORY_KIB })
  await source.domain(how, xml)
  if (how === 'define') await source.virsh('start', domain)
}

async function seedOf(dir: string, { domain, mac, address, gateway, publicKey }: SourceGuest): Promise<string> {
  const subnets = [{ type: 'static', address, gateway }]
  const files = seedFiles({
    metaData: { 'instance-id': domain, 'local-hostname': 'shop' },
    userData: { hostname: 'shop', users: [{ name: 'root', ssh_authorized_keys: [publicKey] }] },
    networkConfig: { version: 1, config: [{ type: 'physical', name: 'eth0', mac_address: mac, subnets }] },
  } as Parameters<typeof seedFiles>[0])
  const folder = join(dir, 'seed')
  mkdirSync(folder)
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  const iso = join(dir, 'seed.iso')
  await must('xorriso', '-as', 'mkisofs', '-quiet', '-V', 'cidata', '-J', '-r', '-o', iso, folder)
  return iso
}

/** The checksum of all that the guest would read, whatever the format of its disk. */
export const contentOf = (source: SourceHypervisor, path: string, format: string) =>
  source.must(
    ...['sh', '-c', 'qemu-img convert -f "$2" -O raw -- "$1" "$1.read" && sha256sum <"$1.read" && rm "$1.read"'],
    ...['sh', path, format],
  )
