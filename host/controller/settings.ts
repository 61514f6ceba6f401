// The controller's settings: what this run says, else what an earlier one wrote, else what the machine suggests.
import { chownSync, existsSync } from 'node:fs'
import type { Flags } from '../flags.ts'
import { type Machine, makeDirectory, place, setting, settingLines } from '../machine/machine.ts'
import { controllerEnv, labAuthority } from '../machine/paths.ts'
import { setDropIn } from '../services/install-service.ts'

export type ControllerSettings = {
  listen: string
  publicUrl: string
  dataDir: string
  labCertificate: boolean
  /** Nodes may join over plain HTTP. */
  isInsecure: boolean
}

const portOf = (listen: string) => Number(listen.slice(listen.lastIndexOf(':') + 1))
const hostOf = (listen: string) => listen.slice(0, listen.lastIndexOf(':'))

/** Decides the settings; changes nothing. */
export function controllerSettings(machine: Machine, flags: Flags): ControllerSettings {
  const { paths } = machine
  const before = (name: string) => setting(controllerEnv(paths), name) || undefined
  const { domain } = flags
  const listen = flags.listen ?? listenBefore(before('PANEL_LISTEN'), domain !== undefined) ?? '0.0.0.0:8080'
  const publicUrl =
    flags.publicUrl ??
    (domain && `https://${domain}`) ??
    before('PANEL_PUBLIC_URL') ??
    `http://${reachableHost(machine, listen)}:${portOf(listen)}`
  const wasLab = !domain && before('PANEL_PUBLIC_URL') === publicUrl && before('PANEL_AGENT_CA') === labAuthority(paths)
  return {
    listen,
    publicUrl,
    dataDir: flags.dataDir ?? before('PANEL_DATA_DIR') ?? '/var/lib/berth',
    labCertificate: flags.labCertificate || wasLab,
    isInsecure: mayJoinInTheClear(machine, flags, listen, publicUrl),
  }
}

/** Behind Caddy nobody else needs the panel's own port, also where it was open before. */
function listenBefore(before: string | undefined, isBehindCaddy: boolean): string | undefined {
  if (!isBehindCaddy) return before
  const port = before === undefined ? 8080 : portOf(before)
  return `127.0.0.1:${port === 80 || port === 443 ? 8080 : port}`
}

/** Said with --insecure, at this run or an earlier one; or this machine's own node comes from no loopback address. */
function mayJoinInTheClear({ paths }: Machine, { insecure, mode }: Flags, listen: string, publicUrl: string): boolean {
  if (publicUrl.startsWith('https:')) return false
  if (insecure || setting(controllerEnv(paths), 'PANEL_AGENT_INSECURE') === '1') return true
  return mode === 'all-in-one' && !/^http:\/\/(127\.|\[::1\])/.test(localUrl(listen))
}

/** Makes the user, the data directory and the file of settings. Answers the panel's address, for the step. */
export function configureController(machine: Machine, flags: Flags, settings: ControllerSettings): string {
  const { exec, paths } = machine
  const { listen, publicUrl, dataDir, labCertificate, isInsecure } = settings
  if (exec.ask('getent', ['passwd', 'berth']).code !== 0)
    exec.run('useradd', [
      ...['--system', '--user-group', '--home-dir', dataDir, '--no-create-home'],
      ...['--shell', '/usr/sbin/nologin', 'berth'],
    ])
  if (!existsSync(dataDir)) {
    makeDirectory(dataDir, 0o700)
    const { uid, gid } = userOf(machine, 'berth')
    chownSync(dataDir, uid, gid)
  }
  const isBehindProxy = flags.domain !== undefined || setting(controllerEnv(paths), 'PANEL_TRUSTED_PROXIES') !== ''
  const lines = settingLines(
    'Written by install.sh. Your own settings go into controller.local.env beside this file; they win and stay.',
    {
      PANEL_PUBLIC_URL: publicUrl,
      PANEL_LISTEN: listen,
      PANEL_DATA_DIR: dataDir,
      PANEL_TRUSTED_PROXIES: isBehindProxy ? proxies(listen) : undefined,
      PANEL_AGENT_CA: labCertificate ? labAuthority(paths) : undefined,
      PANEL_AGENT_INSECURE: isInsecure ? '1' : undefined,
    },
  )
  place(machine, controllerEnv(paths), 0o644, lines)
  return publicUrl
}

/** A port below 1024 needs a right that the unit does not have as packaged. */
export const allowPort = (machine: Machine, listen: string) => setDropIn(machine, 'lowPort', portOf(listen) < 1024)

/** Caddy, on this machine, comes from the address that it calls. */
const proxies = (listen: string) =>
  ['127.0.0.1/32', '::1/128', ...(/^(0\.0\.0\.0:|127\.|\[)/.test(listen) ? [] : [`${hostOf(listen)}/32`])].join()

/** Where browsers find this machine when it listens on every address. */
export function reachableHost({ exec }: Machine, listen: string): string {
  const host = hostOf(listen)
  if (host !== '0.0.0.0' && host !== '[::]') return host
  const device = / dev (\S+)/.exec(exec.ask('ip', ['-4', 'route', 'show', 'default']).out)?.[1]
  const { out } = exec.ask('ip', ['-4', '-o', 'address', 'show', 'scope', 'global', ...(device ? ['dev', device] : [])])
  return /\binet ([0-9.]+)/.exec(out)?.[1] ?? '127.0.0.1'
}

/** Where this machine itself finds the controller. */
export const localUrl = (listen: string) =>
  /^(0\.0\.0\.0|\[::\]):/.test(listen) ? `http://127.0.0.1:${portOf(listen)}` : `http://${listen}`

export const panelPort = portOf

export function userOf({ exec }: Machine, name: string): { uid: number; gid: number } {
  const [, , uid, gid] = exec.must('getent', ['passwd', name]).split(':')
  return { uid: Number(uid), gid: Number(gid) }
}
