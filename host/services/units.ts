// The units of systemd. They are files in packaging/systemd, valid as they stand, and are fitted to the machine here.

import controller from '../../packaging/systemd/berth.service' with { type: 'text' }
import agent from '../../packaging/systemd/berth-agent.service' with { type: 'text' }
import agentGpu from '../../packaging/systemd/berth-agent-gpu.conf' with { type: 'text' }
import containers from '../../packaging/systemd/berth-containers.service' with { type: 'text' }
import httpProxy from '../../packaging/systemd/berth-http-proxy.service' with { type: 'text' }
import lowPort from '../../packaging/systemd/berth-low-port.conf' with { type: 'text' }
import network from '../../packaging/systemd/berth-network.service' with { type: 'text' }
import upgradePath from '../../packaging/systemd/berth-upgrade.path' with { type: 'text' }
import upgrade from '../../packaging/systemd/berth-upgrade.service' with { type: 'text' }
import libvirtGuests from '../../packaging/systemd/libvirt-guests.conf' with { type: 'text' }

export const units = {
  berth: controller,
  'berth-agent': agent,
  'berth-containers': containers,
  'berth-http-proxy': httpProxy,
  'berth-network': network,
  'berth-upgrade': upgrade,
}
export type Unit = keyof typeof units

/** Starts the upgrade that the controller asks for; the file, and its text for this data directory. */
export const upgradeRequests = {
  name: 'berth-upgrade.path',
  text: (docs: string, dataDir: string) =>
    upgradePath.replace(`${packaged.docs}/`, `${docs}/`).replace(`${packaged.dataDir}/`, `${dataDir}/`),
}

/** Drop-in files, each with the unit that it changes. */
export const dropIns = {
  lowPort: { unit: 'berth', name: 'low-port.conf', text: lowPort },
  gpu: { unit: 'berth-agent', name: 'gpu.conf', text: agentGpu },
  libvirtGuests: { unit: 'libvirt-guests', name: 'berth.conf', text: libvirtGuests },
} as const

/** Where the files of packaging/ say that things are: as the Debian package has them. */
export const packaged = {
  program: '/usr/bin/berth',
  docs: '/usr/share/doc/berth',
  dataDir: '/var/lib/berth',
}
/** Systemd that knows RestartSteps. */
const KNOWS_STEPS = 254

/**
 * `agentProgram`: what the agent runs. `hostProgram`: does the work before a start; a package has none, because it is
 * updated as packages are. `systemdVersion`: 0 where it is not known.
 */
export type Places = {
  program: string
  agentProgram?: string
  hostProgram?: string
  docs: string
  dataDir: string
  systemdVersion: number
}

/** A unit for a program, documents and data that lie there. Throws when the file lacks a line that is to be changed. */
export function renderUnit(unit: Unit, places: Places): string {
  const { program, agentProgram = program, hostProgram, docs, dataDir, systemdVersion } = places
  let text = units[unit]
  const replace = (before: string, after: string) => {
    if (!text.includes(before)) throw new Error(`${unit}.service has no ${before}`)
    text = text.replaceAll(before, after)
  }
  if (text.includes(`${packaged.docs}/`)) replace(`${packaged.docs}/`, `${docs}/`)
  if (unit === 'berth' || unit === 'berth-agent') {
    // Outside of the sandbox: it puts programs in place.
    const before = hostProgram === undefined ? '' : `ExecStartPre=+${hostProgram} host before-start ${unit}\n`
    const runs = unit === 'berth' ? program : agentProgram
    replace(`ExecStart=${packaged.program} `, `${before}ExecStart=${runs} `)
    // A package may be made where there is no systemd. One that does not know the lines only warns of them.
    if (systemdVersion > 0 && systemdVersion < KNOWS_STEPS)
      replace(
        /^# With growing pauses.*\n(?:Restart(?:Steps|MaxDelaySec)=.*\n)+/m.exec(text)?.[0] ?? 'growing pauses',
        '',
      )
  }
  if (unit === 'berth') replace(`ReadWritePaths=${packaged.dataDir}\n`, `ReadWritePaths=${dataDir}\n`)
  return text
}
