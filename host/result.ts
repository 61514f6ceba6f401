// The last words of an installation: where the panel is, how to sign in, and how to order the first server.
import { hostTime } from '../agent/protocol/monotonic-clock.ts'
import { call, firstOf, tryAdmin } from './controller/admin.ts'
import { type ControllerSettings, reachableHost } from './controller/settings.ts'
import type { Staff } from './controller/start.ts'
import { customerFile, TOKEN_DAYS } from './first-server.ts'
import type { Flags } from './flags.ts'
import { type Machine, textOf } from './machine/machine.ts'
import { labAuthority, servicesCommand } from './machine/paths.ts'
import { journalOf } from './services/install-service.ts'

export type Result = {
  settings: ControllerSettings
  staff: Staff
  hasCertificate: boolean
  /** Of the API, if this run made one. */
  token?: string | undefined
}

export function sayResult(machine: Machine, flags: Flags, result: Result) {
  const { hasSystemd, paths, report } = machine
  const { settings, staff, hasCertificate } = result
  const { publicUrl, isInsecure, labCertificate } = settings
  report.say(`\nBerth is ready.\n\n  Panel          ${publicUrl}`)
  const { email, password } = staff
  report.say(`  Staff sign-in  ${email}${password ? '' : '   (its password was shown when it was made)'}`)
  if (password) report.say(`  Password       ${password}   (shown only once; change it after signing in)`)
  if (publicUrl.startsWith('http:'))
    report.say(
      '\nThis is a lab on plain HTTP: passwords and tokens cross the network readable. Keep it on a network that you ' +
        'trust,\nor run this again with --domain panel.example.com for automatic HTTPS.\n' +
        (isInsecure
          ? 'Nodes may join over plain HTTP too (--insecure): whoever is on that network could give them orders.'
          : 'Until then nodes on other machines are refused; --insecure lets them in, in a lab.'),
    )
  if (labCertificate)
    report.say(
      `\nThe certificate is a lab's: browsers warn until they trust the authority in ${labAuthority(paths)}.\n` +
        'The command that the panel shows for a node carries it.',
    )
  if (!hasCertificate)
    report.say(
      `\nThere is no certificate for ${flags.domain} yet: the name must point to this machine, and ports 80 and 443 ` +
        'must be open from the internet.\n' +
        `Caddy goes on asking for it; what it says: ${journalOf(machine, 'caddy')}. For a lab: --lab-certificate.`,
    )
  if (!hasSystemd)
    report.say(`\nThere is no systemd here: after a restart of this machine run ${servicesCommand(paths)} start`)
  if (flags.mode !== 'all-in-one' || !flags.firstGuest) return
  if (firstOf(machine, 'servers.list-all')) return sayToken(machine, result, false)
  sayFirstServer(machine, result)
  sayToken(machine, result, true)
}

function sayFirstServer(machine: Machine, { settings, token = 'TOKEN' }: Result) {
  const { report } = machine
  const { publicUrl } = settings
  report.say(`\nCreate your first server:\n\n  ${publicUrl}/admin/servers/new`)
  const ownerId = firstCustomer(machine)
  if (!ownerId) return
  const key: string | undefined = call(machine, 'ssh-keys.list', { id: ownerId }).data[0]?.id
  const body = JSON.stringify({
    ownerId,
    packageId: firstOf(machine, 'packages.list'),
    nodeGroupId: firstOf(machine, 'locations.list'),
    imageId: firstOf(machine, 'images.list'),
    hostname: 'web01',
    access: key ? { mode: 'ssh_keys', sshKeyIds: [key] } : { mode: 'password' },
  })
  const curl = `curl -sS --fail-with-body${reachingTheName(machine, settings)}`
  const headers = [
    `Authorization: Bearer ${token}`,
    `Idempotency-Key: first-server-${Math.floor(hostNow() / 1000)}`,
    'Content-Type: application/json',
  ]
  report.say(
    [
      `\nor\n\n  ${curl} -X POST '${publicUrl}/api/v1/admin/servers' \\`,
      ...headers.map((header) => `    -H '${header}' \\`),
      `    -d '${body}'`,
    ].join('\n'),
  )
}

/** The customer that an earlier run made, or the only one there is. With several, the operator knows which. */
function firstCustomer(machine: Machine): string | undefined {
  const made = textOf(customerFile(machine))?.trim()
  const found = made && tryAdmin(machine, ['customers.get', JSON.stringify({ id: made })])
  if (found && found.code === 0) return JSON.parse(found.out).id
  const { total, data } = call(machine, 'customers.list')
  return total === 1 ? data[0].id : undefined
}

/** Flags of curl for a lab's certificate, and for a name that no name server knows. */
function reachingTheName(machine: Machine, { labCertificate, publicUrl }: ControllerSettings): string {
  if (!labCertificate) return ''
  const name = publicUrl.replace('https://', '')
  const isKnown = machine.exec.ask('getent', ['hosts', name]).code === 0
  const resolve = isKnown ? '' : ` --resolve ${name}:443:${reachableHost(machine, '0.0.0.0:443')}`
  return ` --cacert ${labAuthority(machine.paths)}${resolve}`
}

function sayToken({ report }: Machine, { staff, token }: Result, isBeforeFirstServer: boolean) {
  const may = 'sees and changes customers, and orders, resizes, suspends, reinstalls and terminates their servers'
  if (token)
    report.say(
      `\nThe API token\n  ${token}\nis for a billing system: it ${may}.\nIt ends on ` +
        `${new Date(hostNow() + TOKEN_DAYS * DAY_MS).toISOString().slice(0, 10)}. ` +
        'End it earlier in the panel under Account, API tokens.',
    )
  else if (isBeforeFirstServer)
    report.say(
      `\nFor TOKEN, make one that ${may}:\n  sudo berth admin create-token --account ${staff.email} ` +
        `--name first-server --preset billing --expires ${TOKEN_DAYS}`,
    )
}

const DAY_MS = 86_400_000
const hostNow = () => hostTime.wall()
