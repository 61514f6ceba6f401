// All that a first server needs: addresses, a package, an image, a customer, a token for a billing system.
import { chownSync, readdirSync } from 'node:fs'
import { admin, call, firstOf, tryAdmin } from './controller/admin.ts'
import { type ControllerSettings, userOf } from './controller/settings.ts'
import type { Flags } from './flags.ts'
import { becomes, type Machine, makeDirectory, place, textOf } from './machine/machine.ts'
import { Failed } from './machine/report.ts'
import { addressIn } from './node/bridge.ts'
import { identityOf } from './node/identity.ts'
import type { GuestNetwork } from './node/network.ts'
import { journalOf } from './services/install-service.ts'

export const TOKEN_DAYS = 30
export const customerFile = ({ paths }: Machine) => `${paths.settings}/first-customer`

type Given = { flags: Flags; network: GuestNetwork; settings: ControllerSettings; email: string }

/** Answers the token, if this run made one. */
export async function makeFirstServerReady(machine: Machine, { flags, network, settings, email }: Given) {
  const { report } = machine
  let token: string | undefined
  await report.step('Addresses for servers', () => makeIpPool(machine, flags, network))
  await report.step('Package', () => makePackage(machine))
  await report.step('Image', () => makeImage(machine, flags, settings))
  await report.step('Rescue system', () => chooseRescueImage(machine))
  await report.step('Customer', () => makeCustomer(machine))
  await report.step('API token', () => {
    token = makeToken(machine, email)
    return token === undefined ? 'made earlier' : `for ${TOKEN_DAYS} days`
  })
  await report.step('Node is connected', () => waitForNode(machine))
  return token
}

function makeIpPool(machine: Machine, { poolRange, resolvers }: Flags, { subnet, gateway }: GuestNetwork): string {
  if (firstOf(machine, 'pools.list')) return 'already there'
  if (subnet === undefined) return 'none: say --subnet, --gateway and --pool-range, or add a pool in the panel'
  const range = poolRange ?? `${addressIn(subnet, 10)}-${addressIn(subnet, -6)}`
  const [first, last] = range.split('-')
  call(machine, 'pools.create', {
    ...{ name: 'Servers', network: `${addressIn(subnet, 0)}/${subnet.split('/')[1]}` },
    ...{ gateway: gateway ?? '', first, last },
    resolvers: resolvers.length ? resolvers : ownResolvers(textOf('/etc/resolv.conf') ?? ''),
    nodeIds: [identityOf(machine.paths)!.nodeId],
  })
  return range
}

/** The name servers of this machine that guests can reach, three at most. */
export const ownResolvers = (resolvConf: string) =>
  [...resolvConf.matchAll(/^\s*nameserver\s+(\S+)/gm)]
    .map(([, address]) => address!)
    .filter((address) => !/^127\.|^::1|%/.test(address))
    .slice(0, 3)

function makePackage(machine: Machine): string {
  if (firstOf(machine, 'packages.list')) return 'already there'
  call(machine, 'packages.create', { name: 'Small', vcpus: 1, memoryMb: 1024, diskGb: 10 })
  return 'Small: 1 processor, 1 GiB, 10 GiB'
}

/** Debian from the catalogue, as its publishers sign it; without the internet, a small Linux of Debian's packages. */
function makeImage(machine: Machine, { source }: Flags, { dataDir }: ControllerSettings): string {
  if (firstOf(machine, 'images.list')) return 'already there'
  const added = tryAdmin(machine, ['images.add', '{"catalogueId":"debian-13"}'])
  machine.report.write(added.out + added.err)
  if (added.code === 0) return 'Debian 13 from the catalogue'
  const { uid, gid } = userOf(machine, 'berth')
  const incoming = `${dataDir}/incoming`
  makeDirectory(incoming, 0o750)
  chownSync(incoming, uid, gid)
  const file = `${incoming}/berth-tiny.qcow2`
  machine.exec.run(`${source}/guest/build-tiny-guest.sh` as '/', [file], { env: { GUEST_INSTALL_TOOLS: '1' } })
  chownSync(file, uid, gid)
  call(machine, 'images.import', {
    ...{ file: 'berth-tiny.qcow2', name: 'Berth Tiny Linux', format: 'qcow2', minDiskGb: 1, published: true },
  })
  return 'the catalogue cannot be reached, so a tiny Linux was built from Debian packages'
}

/** The first image, so that a server that does not start can be looked into from its first day. */
function chooseRescueImage(machine: Machine): string {
  const images: { id: string; name: string; isRescue: boolean }[] = call(machine, 'images.list').data
  const [image] = images
  if (!image) return 'none: there is no image'
  if (images.some(({ isRescue }) => isRescue)) return 'chosen earlier'
  call(machine, 'images.update', { id: image.id, isRescue: true })
  return image.name
}

function makeCustomer(machine: Machine): string {
  if (firstOf(machine, 'customers.list')) return 'already there'
  const { id } = call(machine, 'customers.create', { name: 'First customer', email: 'customer@example.com' })
  place(machine, customerFile(machine), 0o644, `${id}\n`)
  const notes = ['First customer']
  for (const path of publicKeys(`${process.env['HOME']}/.ssh`)) {
    const publicKey = textOf(path)?.trimEnd()
    const added = publicKey && tryAdmin(machine, ['ssh-keys.create', JSON.stringify({ id, publicKey })])
    if (added && added.code === 0) notes.push(`with ${path}`)
  }
  return notes.join(', ')
}

function publicKeys(dir: string): string[] {
  try {
    return readdirSync(dir)
      .filter((name) => name.endsWith('.pub'))
      .toSorted()
      .map((name) => `${dir}/${name}`)
  } catch {
    return []
  }
}

function makeToken(machine: Machine, email: string): string | undefined {
  const made = `${machine.paths.settings}/api-token-made`
  if (textOf(made) !== undefined) return undefined
  const token = admin(machine, [
    ...[
      'create-token',
      '--account',
      email,
      '--name',
      'install.sh',
      '--preset',
      'billing',
      '--expires',
      `${TOKEN_DAYS}`,
    ],
  ])
  const words = `install.sh made an API token for ${email}. It is shown once and stored nowhere.\n`
  place(machine, made, 0o644, words)
  return token
}

async function waitForNode(machine: Machine) {
  const { nodeId } = identityOf(machine.paths)!
  const isConnected = () => {
    const { code, out } = tryAdmin(machine, ['nodes.list'])
    return code === 0 && JSON.parse(out).data.some((node: any) => node.id === nodeId && node.connected === true)
  }
  if (!(await becomes(30, isConnected)))
    throw new Failed(
      'The agent was started but the controller does not see it.',
      `Its journal: ${journalOf(machine, 'berth-agent')}`,
    )
}
