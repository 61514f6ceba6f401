// Caddy in front of the panel, for automatic HTTPS. An operator's own sites stay beside it.
import { chmodSync, copyFileSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import type { Flags } from '../flags.ts'
import { becomes, type Machine, place, textOf } from '../machine/machine.ts'
import { installPackages } from '../machine/packages.ts'
import { labAuthority } from '../machine/paths.ts'
import { Failed } from '../machine/report.ts'
import { tellService } from '../services/command.ts'
import { addSupervised, journalOf, removeSupervised, runService } from '../services/install-service.ts'
import { type ControllerSettings, localUrl } from './settings.ts'

/** Answers whether there is a certificate already: a public authority may take its time. Throws `Failed`. */
export async function installCaddy(
  machine: Machine,
  flags: Flags & { domain: string },
  settings: ControllerSettings,
): Promise<{ hasCertificate: boolean }> {
  const { changed, exec, hasSystemd, paths } = machine
  const { domain } = flags
  const { labCertificate } = settings
  installPackages(machine, ['caddy'])
  place(machine, paths.caddySite, 0o644, siteFor(machine, flags, settings))
  importSite(machine)
  asCaddy(machine, 'run', ['validate', '--config', paths.caddyMain, '--adapter', 'caddyfile'])
  if (hasSystemd) {
    exec.run('systemctl', ['enable', '--quiet', '--now', 'caddy'])
    if (changed.has(paths.caddySite)) exec.run('systemctl', ['reload-or-restart', 'caddy'])
  } else {
    addSupervised(machine, 'caddy')
    await runService(machine, 'caddy', paths.caddySite)
  }
  const log = journalOf(machine, 'caddy')
  if (labCertificate && !(await becomes(30, () => keepAuthority(machine))))
    throw new Failed('Caddy does not tell its authority.', `Its log: ${log}`)
  const trust = labCertificate ? ['--cacert', labAuthority(paths)] : []
  const status = [
    ...['-fsS', '--noproxy', '*', '-o', '/dev/null', '--max-time', '5', '--resolve', `${domain}:443:127.0.0.1`],
    ...trust,
    `https://${domain}/api/v1/status`,
  ]
  if (await becomes(labCertificate ? 30 : 60, () => exec.ask('curl', status).code === 0))
    return { hasCertificate: true }
  if (labCertificate) throw new Failed(`https://${domain} does not answer on this machine.`, `Caddy's log: ${log}`)
  return { hasCertificate: false }
}

function siteFor({ exec, paths }: Machine, { domain, email }: Flags, { labCertificate, listen }: ControllerSettings) {
  const before = /^ {2}tls (.*@.*)$/m.exec(textOf(paths.caddySite) ?? '')?.[1]
  const isLocal = email?.endsWith('@localhost') || email?.endsWith(`@${exec.ask('hostname', []).out.trim()}`)
  const tls = labCertificate ? 'internal' : email === undefined ? before : isLocal ? undefined : email
  return [
    "# Written by Berth's install.sh. Caddy passes WebSockets by itself: /agent/v1/connect, /console/v1/, " +
      '/agent/v1/console/.',
    `${domain} {`,
    ...(tls ? [`  tls ${tls}`] : []),
    `  reverse_proxy ${localUrl(listen)}`,
    '}\n',
  ].join('\n')
}

/** Puts one line into Caddy's own file, if Caddy takes it. Throws `Failed`. */
function importSite(machine: Machine) {
  const { changed, paths } = machine
  const { caddyMain: main, caddySite } = paths
  const line = `import ${caddySite}`
  const before = textOf(main) ?? ''
  if (before.split('\n').includes(line)) return
  const isPackaged = isPackagedPage(machine)
  // The page that the package brings answers on port 80 for every name; it goes. A file of the operator's own stays.
  const kept = isPackaged ? '' : before === '' || before.endsWith('\n') ? before : `${before}\n`
  writeFileSync(`${main}.berth-new`, `${kept}${line}\n`)
  chmodSync(`${main}.berth-new`, 0o644)
  const { code, err } = asCaddy(machine, 'ask', [
    ...['validate', '--config', `${main}.berth-new`, '--adapter', 'caddyfile'],
  ])
  if (code !== 0) {
    rmSync(`${main}.berth-new`)
    throw new Failed(
      `Caddy does not take ${main} with a line for Berth in it: ${err.trimEnd().split('\n').at(-1)}`,
      'That file was not changed. Put it right and run this again, or leave --domain out and follow docs/proxy.md.',
    )
  }
  if (isPackaged) renameSync(main, `${main}.before-berth`)
  renameSync(`${main}.berth-new`, main)
  changed.add(caddySite)
}

/** Is Caddy's file as its package brought it? */
export function isPackagedPage({ exec, paths }: Machine): boolean {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a format of dpkg-query
  const files = exec.ask('dpkg-query', ['-W', '-f=${Conffiles}\n', 'caddy']).out
  const digest = files
    .split('\n')
    .map((line) => line.trim().split(' '))
    .find(([file]) => file === paths.caddyMain)?.[1]
  return (
    existsSync(paths.caddyMain) &&
    digest === new Bun.CryptoHasher('md5').update(readFileSync(paths.caddyMain)).digest('hex')
  )
}

/** Its certificates and its authority are its own, whoever runs this. */
const asCaddy = <Way extends 'run' | 'ask'>({ exec }: Machine, way: Way, args: string[]) =>
  exec[way]('setpriv', ['--reuid=caddy', '--regid=caddy', '--init-groups', 'caddy', ...args], {
    env: { HOME: '/var/lib/caddy' },
  }) as ReturnType<Machine['exec'][Way]>

function keepAuthority(machine: Machine): boolean {
  const url = 'http://127.0.0.1:2019/pki/ca/local'
  const { code, out } = machine.exec.ask('curl', ['-fsS', '--noproxy', '*', '--max-time', '5', url])
  const pem: unknown = code === 0 && JSON.parse(out).root_certificate
  if (typeof pem !== 'string') return false
  place(machine, labAuthority(machine.paths), 0o644, `${pem.replace(/\n$/, '')}\n`)
  return true
}

/** The operator's own sites stay, and are served on. Without any, Caddy is as its package brought it, and stopped. */
export async function removeSite(machine: Machine) {
  const { exec, hasSystemd, paths } = machine
  const { caddyMain: main, caddySite } = paths
  rmSync(caddySite)
  const left = (textOf(main) ?? '').split('\n').filter((line) => line !== `import ${caddySite}`)
  copyFileSync(main, `${main}.berth-new`)
  writeFileSync(`${main}.berth-new`, left.join('\n'))
  renameSync(`${main}.berth-new`, main)
  if (left.some((line) => line.trim() !== '')) {
    if (hasSystemd) exec.try('systemctl', ['try-reload-or-restart', 'caddy'])
    else await tellService(machine, 'caddy', 'restart')
    return
  }
  if (existsSync(`${main}.before-berth`)) renameSync(`${main}.before-berth`, main)
  if (hasSystemd) exec.try('systemctl', ['disable', '--now', '--quiet', 'caddy'])
  else {
    await tellService(machine, 'caddy', 'stop')
    removeSupervised(machine, 'caddy')
  }
}
