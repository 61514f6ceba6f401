// The service whose program is replaced, under systemd and under the supervisor.
import type { UpgradedService } from '../../agent/protocol/release/upgrade.ts'
import { type Machine, textOf } from '../machine/machine.ts'
import { tellService } from '../services/command.ts'
import { killNoted } from '../services/service.ts'

/** `failed`: it ended and is not started again; `stopped`: somebody stopped it, as far as that can be told. */
export type ServiceState = 'active' | 'failed' | 'stopped'
export type Control = {
  /** Asks for a restart and does not wait for it. */
  restart(): void
  /** Ends its process at once. */
  kill(): void
  state(): Promise<ServiceState>
  /** The last thing that its process said, or ''. */
  lastWords(): string
}

export const controlOf = (machine: Machine, service: UpgradedService): Control =>
  machine.hasSystemd ? underSystemd(machine, service) : underSupervisor(machine, service)

function underSystemd({ exec }: Machine, service: UpgradedService): Control {
  return {
    restart: () => exec.run('systemctl', ['restart', '--no-block', service]),
    kill: () => void exec.try('systemctl', ['kill', '--kill-whom=main', '--signal=KILL', service]),
    async state() {
      const found = exec.ask('systemctl', ['show', '-P', 'ActiveState', service]).out.trim()
      return found === 'failed' ? 'failed' : found === 'inactive' ? 'stopped' : 'active'
    },
    // Those of systemd itself about the unit have another field.
    lastWords: () =>
      lastLine(
        exec.ask('journalctl', [
          '-o',
          'cat',
          '-n',
          String(MOST_LINES),
          '--no-pager',
          `_SYSTEMD_UNIT=${service}.service`,
        ]).out,
      ),
  }
}

function underSupervisor(machine: Machine, service: UpgradedService): Control {
  const { paths } = machine
  return {
    restart: () => void tellService(machine, service, 'restart'),
    kill: () => killNoted(paths.run, service),
    state: async () => ((await tellService(machine, service, 'status')).isDone ? 'active' : 'failed'),
    lastWords: () => lastLine(textOf(`${paths.logs}/${service}.log`) ?? '', bySupervisor(service)),
  }
}

const MOST_WORDS = 400
/** Those of a program that ended with an error of its own. */
const MOST_LINES = 40
/** Lines that the supervisor adds to the log of a service. */
const bySupervisor = (service: string) => new RegExp(`^\\S+ ${service} (ended|cannot|does not)`)

/** The last error of these lines, or the last line. */
function lastLine(text: string, without = /^$/): string {
  const lines = text
    .split('\n')
    .slice(-MOST_LINES)
    .map((line) => line.replace(/^<\d>/, '').trim())
    .filter((line) => line !== '' && !without.test(line) && !/^(at |Bun v\d)/.test(line))
  return (lines.findLast((line) => /^(\w*Error|[a-z]+_[a-z_]+): /.test(line)) ?? lines.at(-1) ?? '').slice(
    0,
    MOST_WORDS,
  )
}
