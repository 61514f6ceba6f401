// On a machine without systemd one process starts the services, starts each again when it ends, and stops them. It
// takes its commands over a socket file that root alone can open.
import { mkdirSync, openSync, rmSync } from 'node:fs'
import { makeDirectory } from '../machine/machine.ts'
import type { Paths } from '../machine/paths.ts'
import { launches, launchOf } from './launch.ts'
import { lock } from './listening.ts'
import { Service } from './service.ts'

export const verbs = ['start', 'stop', 'restart', 'status'] as const
export type Verb = (typeof verbs)[number]
/** How a command to a service ended. `words` is empty where there is nothing to say. */
export type Told = { isDone: boolean; words: string }

export const socketOf = ({ run }: Paths) => `${run}/supervisor.sock`
const CAP_LOGS_EVERY_MS = 30_000
const MOST_LOG_BYTES = 10 << 20

type Options = { all?: typeof launches; mostLogBytes?: number; capLogsEveryMs?: number }

/**
 * Runs until nothing is to be kept any more, or `stopped` aborts. Services that an earlier supervisor left running are
 * taken over. Resolves at once where another supervisor runs.
 */
export async function supervise(
  paths: Paths,
  { all = launches, mostLogBytes = MOST_LOG_BYTES, capLogsEveryMs = CAP_LOGS_EVERY_MS }: Options = {},
) {
  makeDirectory(paths.run)
  mkdirSync(paths.logs, { recursive: true })
  if (!lock(openSync(`${paths.run}/supervisor.lock`, 'a', 0o600))) return
  const services = new Map(
    Object.keys(all).map((name) => [
      name,
      new Service(name, {
        launch: () => launchOf(paths, name, all),
        dir: paths.run,
        log: `${paths.logs}/${name}.log`,
        mostLogBytes,
      }),
    ]),
  )
  for (const service of services.values()) service.adopt()
  const capping = setInterval(() => {
    for (const service of services.values()) service.capLog()
  }, capLogsEveryMs)
  const { promise: ended, resolve: end } = Promise.withResolvers<void>()
  const isIdle = () => [...services.values()].every((service) => !service.isKept)
  rmSync(socketOf(paths), { force: true })
  const before = process.umask(0o177)
  const server = Bun.serve({
    unix: socketOf(paths),
    async fetch(request, server) {
      // A stop may take half a minute.
      server.timeout(request, 0)
      const [, verb = '', name = ''] = new URL(request.url).pathname.split('/')
      const service = services.get(name)
      const told = service
        ? await tell(service, verb as Verb)
        : { isDone: false, words: `There is no service ${name}.` }
      // Answered first: who waits for it learns that it is done.
      if (verb === 'stop' && isIdle()) setTimeout(() => isIdle() && end(), 20)
      return Response.json(told)
    },
  })
  process.umask(before)
  await ended
  clearInterval(capping)
  rmSync(socketOf(paths), { force: true })
  await server.stop(true)
}

async function tell(service: Service, verb: Verb): Promise<Told> {
  switch (verb) {
    case 'start':
      service.start()
      return { isDone: true, words: '' }
    case 'stop': {
      const isDone = await service.stop()
      return { isDone, words: isDone ? '' : `${service.name} does not stop` }
    }
    case 'restart': {
      const isDone = await service.restart()
      return { isDone, words: isDone ? '' : `${service.name} does not stop` }
    }
    case 'status':
      return { isDone: service.isKept, words: `${service.name} ${service.isKept ? 'runs' : 'does not run'}` }
  }
}
