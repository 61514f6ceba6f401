// A node on this machine's libvirt with a full Debian to order, for the long tests: systemd, cloud-init, OpenSSH and
// the QEMU guest agent. BERTH_DEBIAN_IMAGE names an image that guest/build-debian-guest.sh built before.
import { copyFileSync } from 'node:fs'
import { bridge, must, newKey, noGuests, removeRules, run } from '../guest.ts'
import { installation } from '../world/processes.ts'

/** Where processors are emulated a boot takes minutes: only with BERTH_LONG=1. */
export const isLong = process.env['BERTH_LONG'] === '1'
/** Why no Debian can be run here; undefined when one can. */
export const noDebian = isLong ? await noGuests() : 'BERTH_LONG is not 1'
if (isLong && noDebian) console.warn(`the Debian guest is skipped: ${noDebian}`)

export type OrderedServer = { serverId: string; jobId: string; ipv4: string }
type Lab = {
  /** The name of its bridge, of at most 15 characters. */
  bridge: string
  /** The first three numbers of its IPv4 network, such as 10.91.9. */
  ipv4: string
  /** A network of at least /48, whose servers get a /64 each; without it they have IPv4 alone. */
  ipv6?: string
  diskGb: number
}

/** Call `close` at the end, whatever happened. */
export async function debianLab({ bridge: name, ipv4, ipv6, diskGb }: Lab) {
  const lan = await bridge(name, `${ipv4}.1/24`)
  const key = await newKey()
  const live = await installation()
  const made: OrderedServer[] = []
  const lab = {
    live,
    key,
    token: '',
    ownerId: '',
    /** Orders a server of the Debian and answers at once. */
    async order(fields: { hostname: string; firmware?: string; access?: object; scriptId?: string }) {
      const { firmware = 'bios', ...rest } = fields
      const { status, body } = await live.api(lab.token, 'POST', '/admin/servers', {
        ...{ ownerId: lab.ownerId, packageId, imageId: await imageOf(firmware), nodeGroupId: location },
        ...{ access: { mode: 'ssh_keys', sshKeyIds: [sshKey] } },
        ...rest,
      })
      if (status !== 201) throw new Error(JSON.stringify(body))
      made.push(body)
      return body as OrderedServer & { rootPassword?: string }
    },
    ended: (jobId: string) =>
      live.until(
        `the end of ${jobId}`,
        async () => {
          const { body } = await live.api(lab.token, 'GET', `/jobs/${jobId}`)
          return (body.state === 'succeeded' || body.state === 'failed') && body
        },
        600,
      ),
    async close() {
      key.remove()
      for (const { serverId } of made) {
        await run(['virsh', '-c', 'qemu:///system', 'destroy', serverId])
        await run(['virsh', '-c', 'qemu:///system', 'undefine', '--nvram', serverId])
      }
      // Podman mounts its layers here as soon as an agent asks for its version.
      await run(['umount', '--lazy', `${live.dir}/real-01/containers/storage/overlay`])
      await live.close()
      await lan.remove()
      await removeRules()
    },
  }
  await live.serve()
  lab.token = await live.ownerToken()
  const location = (await live.admin('locations.create', { name: 'Lab' })).id
  live.agent(await live.enroll(location, 'real-01', ['--bridge', name]))
  const node = await live.until('the node', async () =>
    (await live.admin('nodes.list')).data.find((n: any) => n.connected && n.load?.pools.length),
  )
  await live.admin('nodes.update', { id: node.id, bridge: name })
  const pool = { name: 'lan', network: `${ipv4}.0/24`, gateway: `${ipv4}.1`, nodeIds: [node.id] }
  await live.admin('pools.create', { ...pool, first: `${ipv4}.10`, last: `${ipv4}.20` })
  if (ipv6) {
    await must('ip', 'address', 'add', 'fe80::1/64', 'dev', name, 'nodad')
    await must('ip', 'route', 'replace', ipv6, 'dev', name)
    await live.admin('pools.create', { name: 'lan6', network: ipv6, gateway: 'fe80::1', nodeIds: [node.id] })
  }
  const size = { vcpus: 2, memoryMb: 512, diskGb, ...(ipv6 && { ipv6Prefix: 64 }) }
  const packageId = (await live.admin('packages.create', { name: 'S', ...size })).id
  const given = process.env['BERTH_DEBIAN_IMAGE']
  const file = `${live.dir}/debian.qcow2`
  if (given) copyFileSync(given, file)
  else await must('guest/build-debian-guest.sh', file)
  const images = new Map<string, string>()
  const imageOf = async (firmware: string) => {
    const known = images.get(firmware)
    if (known) return known
    copyFileSync(file, `${live.dir}/incoming/debian-${firmware}.qcow2`)
    const about = { file: `debian-${firmware}.qcow2`, name: `Debian by ${firmware}`, firmware }
    const { id } = await live.admin('images.import', about)
    images.set(firmware, id)
    return id as string
  }
  lab.ownerId = (await live.admin('customers.create', { name: 'Cal', email: 'cal@example.com' })).id
  const sshKey = (await live.admin('ssh-keys.create', { id: lab.ownerId, publicKey: key.publicKey })).id
  return lab
}
