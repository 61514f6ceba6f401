// Ports that an installation needs and that other programs have.
import { controllerSettings } from '../controller/settings.ts'
import type { Flags } from '../flags.ts'
import { type Machine, setting } from '../machine/machine.ts'
import { controllerEnv } from '../machine/paths.ts'
import type { Problem } from './problem.ts'

/** A listening socket: its address, and the programs that have it open, as `nginx (pid 123)`. */
type Listener = { address: string; port: number; programs: { name: string; pid: string }[] }

/** Of the output of `ss -Hltnp`. */
export function listenersIn(text: string): Listener[] {
  return text.split('\n').flatMap((line) => {
    const [, address = '', port] = /^\S+\s+\d+\s+\d+\s+(\S+):(\d+)\s/.exec(`${line} `) ?? []
    if (port === undefined) return []
    const programs = [...line.matchAll(/\("([^"]*)",pid=(\d+)/g)].map(([, name = '', pid = '']) => ({ name, pid }))
    return [{ address: address.replace(/^\[|\]$|%.*$/g, ''), port: Number(port), programs }]
  })
}

const isEverywhere = (address: string) => ['0.0.0.0', '::', '*', ''].includes(address)

/** The panel's own port, and those of Caddy with --domain. Programs of Berth give theirs up when they are replaced. */
export function portProblems(machine: Machine, flags: Flags): Problem[] {
  if (flags.mode === 'agent') return []
  const { listen } = controllerSettings(machine, flags)
  const listeners = listenersIn(machine.exec.ask('ss', ['-Hltnp']).out)
  const [, host = '', port = ''] = /^\[?(.*?)\]?:(\d+)$/.exec(listen) ?? []
  const holders = (wanted: number, address: string, own: readonly string[]) => {
    const programs = listeners
      .filter((one) => one.port === wanted)
      .filter((one) => isEverywhere(address) || isEverywhere(one.address) || one.address === address)
      .filter((one) => !one.programs.some(({ name }) => own.some((beginning) => name.startsWith(beginning))))
      .flatMap(({ programs: those }) => (those.length ? those : [{ name: 'the system', pid: '' }]))
    // A server may have a process for each processor: the first of each name is enough.
    return [...Map.groupBy(programs, ({ name }) => name).values()].map(([first]) =>
      first!.pid ? `${first!.name} (process ${first!.pid})` : first!.name,
    )
  }
  // Under systemd the socket of a service that is stopped for a moment is systemd's.
  const wasOurs = setting(controllerEnv(machine.paths), 'PANEL_LISTEN') === listen
  const taken = holders(Number(port), host, wasOurs ? ['berth', 'systemd'] : ['berth'])
  const problems: Problem[] = []
  if (taken.length)
    problems.push({
      problem: `Port ${port} is taken by ${taken.join(' and ')}, so the panel cannot have it.`,
      remedy: 'Stop it, or say another one: --listen 0.0.0.0:8081.',
    })
  if (flags.domain === undefined) return problems
  for (const web of [80, 443]) {
    const others = holders(web, '', ['berth', 'caddy'])
    if (others.length)
      problems.push({
        problem: `Port ${web} is taken by ${others.join(' and ')}, so Caddy cannot have it.`,
        remedy: 'Stop it; or leave --domain out and put Berth behind what is there: docs/proxy.md.',
      })
  }
  return problems
}
