// `berth host services start|stop|restart|status|run [NAME…]`: what systemd does elsewhere.
import { chmodSync, chownSync, existsSync, mkdirSync } from 'node:fs'
import { startService } from '../machine/exec.ts'
import type { Machine } from '../machine/machine.ts'
import { makeDirectory, textOf } from '../machine/machine.ts'
import { hostProgram, type Paths } from '../machine/paths.ts'
import { isNetworkUp, networkUp } from '../node/bridge.ts'
import { launches } from './launch.ts'
import { endOldKeeper, oldKeeperOf } from './old-keeper.ts'
import { type Action, actions, ENDING, socketOf, type Told } from './supervisor.ts'

const usage = 'services start|stop|restart|status [NAME…], or services run, which goes on until SIGTERM'

/** Names in the order in which they start. */
export const listedServices = ({ settings }: Paths) =>
  (textOf(`${settings}/services`) ?? '').split('\n').filter((line) => line !== '')

export type Way = { supervisor?: readonly string[]; known?: readonly string[] }

/**
 * Answers the exit code: 0 done, or all of them run; 1 not; 2 wrong use. `supervisor` is the command line that starts
 * one.
 */
export async function services(machine: Machine, args: readonly string[], way: Way = {}): Promise<number> {
  const { paths } = machine
  const [action = '', ...given] = args
  const known = [...(way.known ?? Object.keys(launches)), 'network']
  if (action === 'run' && given.length === 0) return run(machine, way)
  const unknown = given.find((name) => !known.includes(name))
  if (!actions.some((each) => each === action) || unknown !== undefined) {
    console.error(unknown === undefined ? usage : `There is no service ${unknown}.\n${usage}`)
    return 2
  }
  const names = given.length ? given : listedServices(paths)
  let isDone = true
  // A service needs those that started before it, so it stops before them.
  for (const name of action === 'stop' ? names.toReversed() : names) {
    const told = await tellService(machine, name, action as Action, way)
    if (told.words) (action === 'status' ? console.log : console.error)(told.words)
    isDone &&= told.isDone
  }
  return isDone ? 0 : 1
}

/** For the first process of a container, or its child: all services, until SIGTERM stops them in the opposite order. */
async function run(machine: Machine, way: Way): Promise<number> {
  const { promise: asked, resolve } = Promise.withResolvers<void>()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve())
  const staying = setInterval(() => {}, 60_000)
  const started = await services(machine, ['start'], way)
  await asked
  clearInterval(staying)
  const stopped = await services(machine, ['stop'], way)
  return started || stopped
}

/** Tells one service, and starts the supervisor for it where that is needed. What fails is told in words. */
export const tellService = (machine: Machine, name: string, action: Action, way: Way = {}): Promise<Told> =>
  tellOrThrow(machine, name, action, way).catch((error: Error) => ({
    isDone: false,
    words: `${name}: ${error.message}`,
  }))

async function tellOrThrow(machine: Machine, name: string, action: Action, way: Way): Promise<Told> {
  const { paths } = machine
  if (name === 'network') return tellNetwork(machine, action)
  const isStarting = action === 'start' || action === 'restart'
  const keeper = oldKeeperOf(paths, name)
  if (keeper && action === 'status') return { isDone: true, words: `${name} runs` }
  if (keeper && !(await endOldKeeper(keeper))) return { isDone: false, words: `${name} does not stop` }
  if (name === 'libvirtd' && isStarting) prepareLibvirt(machine)
  let told = await ask(paths, action, name)
  if (!told && !isStarting) return { isDone: action === 'stop', words: action === 'stop' ? '' : `${name} does not run` }
  if (!told) {
    const command = way.supervisor ?? [hostProgram(paths), 'host', 'supervise']
    // One that is just ending keeps the lock for a moment, and the next one gives way to it.
    for (let i = 0; !told && i < 200; i++) {
      if (i % 20 === 0) startSupervisor(paths, command)
      await Bun.sleep(50)
      told = await ask(paths, action, name)
    }
  }
  if (!told) return { isDone: false, words: `${name} does not start: ${paths.logs}/supervisor.log` }
  if (name === 'libvirtd' && isStarting) await untilLibvirtAnswers(machine)
  return told
}

/** Does the supervisor do the work before a start? One that is started now does; one that has run for long may not. */
export const preparesStarts = async ({ paths }: Machine) => (await ask(paths, 'knows', 'before-start'))?.isDone ?? true

/** Undefined where no supervisor runs. Throws where one may have heard it and gave no answer: nothing is said twice. */
async function ask(paths: Paths, action: Action | 'knows', name: string): Promise<Told | undefined> {
  // A connection that is kept may be cut by the other side, and Bun asks again then.
  const options = { unix: socketOf(paths), proxy: '', keepalive: false } as RequestInit
  try {
    const response = await fetch(`http://localhost/${action}/${name}`, options)
    return response.status === ENDING ? undefined : ((await response.json()) as Told)
  } catch (error) {
    if (['ENOENT', 'ECONNREFUSED'].includes((error as { code?: string }).code ?? '')) return undefined
    throw new Error(`the supervisor gave no answer to ${action}: ${paths.logs}/supervisor.log`)
  }
}

/** It outlives its caller, keeps nothing of the caller open, and says what goes wrong in a log of its own. */
function startSupervisor(paths: Paths, command: readonly string[]) {
  makeDirectory(paths.run)
  mkdirSync(paths.logs, { recursive: true })
  startService(command, {
    cwd: '/',
    env: { ...process.env } as Record<string, string>,
    log: `${paths.logs}/supervisor.log`,
  })
}

/** Guests need the network whatever else stops. */
function tellNetwork(machine: Machine, action: Action): Told {
  if (action === 'start' || action === 'restart') networkUp(machine)
  const isUp = isNetworkUp(machine)
  if (action === 'status') return { isDone: isUp, words: `network ${isUp ? 'runs' : 'does not run'}` }
  return { isDone: action === 'stop' || isUp, words: '' }
}

function prepareLibvirt({ exec }: Machine) {
  makeDirectory('/run/libvirt')
  // QEMU's user must be able to open /dev/kvm, or libvirt asks QEMU for its abilities again and again: udev sees to
  // that elsewhere.
  const group = exec.ask('getent', ['group', 'kvm']).out.split(':')[2]
  if (!existsSync('/dev/kvm') || !group) return
  try {
    chownSync('/dev/kvm', 0, Number(group))
    chmodSync('/dev/kvm', 0o660)
  } catch (error) {
    // The host of a container may decide on its owner.
    console.error(`libvirtd: ${(error as Error).message}`)
  }
}

async function untilLibvirtAnswers({ exec }: Machine) {
  for (let i = 0; i < 100 && exec.ask('virsh', ['-c', 'qemu:///system', 'version']).code !== 0; i++)
    await Bun.sleep(100)
}
