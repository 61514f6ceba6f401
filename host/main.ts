// `berth host …`: prepares a machine for the controller or a node and keeps its services. install.sh calls it.
import { readFileSync } from 'node:fs'
import { type UpgradedService, upgradedServices } from '../agent/protocol/release/upgrade.ts'
import { makeDebianPackage } from './deb.ts'
import { type Flags, flagsFrom } from './flags.ts'
import { install } from './install.ts'
import { Exec } from './machine/exec.ts'
import { type Machine, openMachine } from './machine/machine.ts'
import { installed } from './machine/paths.ts'
import { networkCommand } from './node/bridge.ts'
import { services } from './services/command.ts'
import { supervise } from './services/supervisor.ts'
import { uninstall } from './uninstall.ts'
import { beforeStart } from './upgrade/before-start.ts'
import { upgradeData } from './upgrade/data.ts'
import { takeRequest } from './upgrade/request.ts'
import { upgradeStart } from './upgrade/start.ts'
import { watch } from './upgrade/watch.ts'

const usage = `berth host: prepares this machine and keeps its services

  berth host install …     install.sh calls it with its flags, when there is a program (./install.sh --help)
  berth host uninstall     removes services and program; with --purge all data, with --force guests too
  berth host deb …         makes the Debian package; install.sh --deb calls it
  berth host network up    the guests' bridge and NAT; also down and is-up
  berth host services …    without systemd: start, stop, restart or status, of all services or of those named;
                           run starts all and stops them at SIGTERM, for the entry of a container`

/** Runs `berth host ARGS`. Answers the exit code: 0 done, 1 failed with words on standard error, 2 wrong use. */
export async function hostCommand(args: readonly string[]): Promise<number> {
  const [command, ...rest] = args
  // Files for everybody to read, unless their mode is said.
  process.umask(0o022)
  switch (command) {
    case 'install':
      return prepared(rest, (machine, flags) => install(machine, flags))
    case 'uninstall':
      return prepared(rest, (machine, flags) => uninstall(machine, flags))
    case 'deb':
      return prepared(rest, (machine, flags) =>
        machine.report.step('Debian package', () => {
          machine.report.write(`${makeDebianPackage(machine, flags.source)}\n`)
        }),
      )
    case 'network':
      return networkCommand(speaking(), rest)
    case 'services':
      return services(speaking(), rest)
    case 'supervise':
      await supervise(installed)
      return 0
    case 'before-start':
      return ofService(rest, (service) => beforeStart(speaking(), service))
    case 'upgrade-watch':
      return ofService(rest, (service) => watch(speaking(), service))
    case 'upgrade-start':
      return upgradeStart(speaking(), rest)
    case 'upgrade-requested':
      return takeRequest(speaking())
    case 'upgrade-data':
      return upgradeData(rest)
    case '--help':
    case '-h':
    case 'help':
      console.log(usage)
      return 0
    default:
      console.error(usage)
      return 2
  }
}

/** Runs a command that systemd or the supervisor gives for one of the services. */
async function ofService([name, ...more]: readonly string[], work: (service: UpgradedService) => unknown) {
  const service = upgradedServices.find((each) => each === name)
  if (!service || more.length) return 2
  try {
    const code = await work(service)
    return typeof code === 'number' ? code : 0
  } catch (error) {
    console.error((error as Error).message)
    return 1
  }
}

/** Its programs print to standard error. */
const speaking = (): Machine => ({ ...openMachine('/dev/null'), exec: new Exec(2) })

async function prepared(args: readonly string[], work: (machine: Machine, flags: Flags) => Promise<unknown>) {
  let flags: Flags
  try {
    flags = flagsFrom(args, (file) => readFileSync(file === '-' ? '/dev/stdin' : file, 'utf8').trim())
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${usage}`)
    return 2
  }
  const machine = openMachine(flags.log)
  try {
    await work(machine, flags)
    return 0
  } catch (error) {
    return machine.report.failed(error)
  }
}
